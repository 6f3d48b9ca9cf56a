/**
 * What parameters of registryd's routes do, a phrase each: the rows of the routes and the options of `bobbin registry`
 * that send them say it in the same words.
 *
 * Source: ours.
 */
#ifndef REGISTRY_PROSE_H
#define REGISTRY_PROSE_H

#define REG_PROSE_OVERWRITE "replace an existing record"
#define REG_PROSE_PARENTS   "create missing parents"
#define REG_PROSE_RECURSIVE "delete everything below, too"
#define REG_PROSE_SINCE     "only the changes after this revision, no snapshot"
#define REG_PROSE_API       "an endpoint has this interface"
#define REG_PROSE_PROTOCOL  "an endpoint speaks this protocol"

#endif
