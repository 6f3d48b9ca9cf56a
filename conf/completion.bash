# Completion of bobbin, registryd, dnsd and svcmgr in bash. The rows below it, which lib/run/completion.h explains, are printed by the program.
declare -gA _bobbin_words _bobbin_values _bobbin_keys _bobbin_key_values _bobbin_operands

# Complete $2 as what a row of values or operands says, $1.
_bobbin_kind()
{
    local IFS=$'\n'
    case $1 in
    '<dir>') compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    '<file>') compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    '<key>') _bobbin_key "" "$2" ;;
    '<any>' | '<any2>') ;;
    *) COMPREPLY=($(compgen -W "${1// /$IFS}" -- "$2")) ;;
    esac
}

# Complete KEY=VALUE, $2, written behind $1: "" or -D. bash takes what is behind the equals sign as a word of its own.
_bobbin_key()
{
    local IFS=$'\n' keys=${_bobbin_keys[$_bobbin_program]} values
    if [[ $2 == *=* ]]; then
        values=${_bobbin_key_values["$_bobbin_program ${2%%=*}"]}
        COMPREPLY=($(compgen -W "${values// /$IFS}" -- "${2#*=}"))
    else
        compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -P "$1" -S = -W "${keys// /$IFS}" -- "$2"))
    fi
}

# Complete the word $1 at a place, $2, with $3 operands before it.
_bobbin_word()
{
    local IFS=$' \n' kinds
    kinds=(${_bobbin_operands[$2]})
    if [[ $1 == --*=* ]]; then
        _bobbin_kind "${_bobbin_values["$_bobbin_program ${1%%=*}"]:-<any>}" "${1#*=}"
    elif [[ $1 == -D* ]]; then
        _bobbin_key -D "${1#-D}"
    elif [[ $1 == -* || ${#kinds[@]} == 0 ]]; then
        COMPREPLY=($(compgen -W "${_bobbin_words[$2]}" -- "$1"))
    else
        _bobbin_kind "${kinds[$3]:-<any>}" "$1"
    fi
}

_bobbin_complete()
{
    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \t\n' words word option= left=0 n_operands=0 _bobbin_program place
    read -ra words <<<"$line"
    [[ $line == *[$' \t'] ]] && words+=("")
    _bobbin_program=${words[0]##*/} place=${words[0]##*/}
    COMPREPLY=()
    for word in "${words[@]:1:${#words[@]}-2}"; do
        if ((left > 0)); then
            ((--left))
        elif [[ -n ${_bobbin_words["$place $word"]} ]]; then
            place+=" $word"
        elif [[ -n ${_bobbin_values["$_bobbin_program $word"]} ]]; then
            option=$word left=1
            [[ ${_bobbin_values["$_bobbin_program $word"]} == '<any2>' ]] && left=2
        elif [[ $word != -?* ]]; then
            ((++n_operands))
        fi
    done
    if ((left > 0)); then
        _bobbin_kind "${_bobbin_values["$_bobbin_program $option"]}" "${words[-1]}"
    else
        _bobbin_word "${words[-1]}" "$place" "$n_operands"
    fi
}

