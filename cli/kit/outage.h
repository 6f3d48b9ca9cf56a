/**
 * Why a registry that takes requests does not answer them: it says so at /readyz.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_KIT_OUTAGE_H
#define CLI_KIT_OUTAGE_H

#include "cli.h"

/**
 * After ERR_TIMEOUT of a command of the registry: add what the first server says at /readyz that it lacks, as its store.
 *
 * @param why  of the time that was over; as it was where the server says nothing within two seconds   [in,out]
 */
void outage_explain(const struct cli *cli, struct err_info *why);

#endif
