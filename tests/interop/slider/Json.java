import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON: objects are maps, arrays lists, integers longs. Throws IllegalArgumentException where a text is none. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.blanks();
        if (json.at != text.length()) {
            throw json.wrong();
        }
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        put(value, out);
        return out.toString();
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at " + at + ": " + text.substring(at, Math.min(text.length(), at + 40)));
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean take(String word) {
        blanks();
        boolean there = text.startsWith(word, at);
        at += there ? word.length() : 0;
        return there;
    }

    private void need(String word) {
        if (!take(word)) {
            throw wrong();
        }
    }

    private Object value() {
        if (take("{")) {
            return object();
        } else if (take("[")) {
            return array();
        } else if (take("\"")) {
            return string();
        } else if (take("true")) {
            return true;
        } else if (take("false")) {
            return false;
        } else if (take("null")) {
            return null;
        }
        return number();
    }

    private Map<String, Object> object() {
        Map<String, Object> out = new LinkedHashMap<>();
        if (take("}")) {
            return out;
        }
        do {
            need("\"");
            String key = string();
            need(":");
            out.put(key, value());
        } while (take(","));
        need("}");
        return out;
    }

    private List<Object> array() {
        List<Object> out = new ArrayList<>();
        if (take("]")) {
            return out;
        }
        do {
            out.add(value());
        } while (take(","));
        need("]");
        return out;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (; at < text.length() && text.charAt(at) != '"'; at++) {
            char c = text.charAt(at);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            c = text.charAt(++at);
            if (c == 'u') {
                out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                int i = "bfnrt".indexOf(c);
                out.append(i < 0 ? c : "\b\f\n\r\t".charAt(i));
            }
        }
        need("\"");
        return out.toString();
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String word = text.substring(from, at);
        if (word.isEmpty()) {
            throw wrong();
        }
        return word.matches("-?[0-9]+") ? (Object) Long.valueOf(word) : Double.valueOf(word);
    }

    private static void put(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String between = "{";
            for (Map.Entry<?, ?> one : map.entrySet()) {
                out.append(between);
                quote((String) one.getKey(), out);
                out.append(':');
                put(one.getValue(), out);
                between = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            out.append('[');
            for (int i = 0; i < list.size(); i++) {
                out.append(i > 0 ? "," : "");
                put(list.get(i), out);
            }
            out.append(']');
        } else if (value instanceof String string) {
            quote(string, out);
        } else {
            out.append(value);
        }
    }

    private static void quote(String string, StringBuilder out) {
        out.append('"');
        for (char c : string.toCharArray()) {
            if (c < ' ' || c == '"' || c == '\\') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
