/*
 * The call that got something which a store makes up (ids, fences) names it. So the same list of calls runs on every store,
 * and still does after some calls were taken out. `t7.0` is the first task that call 7 enqueued, `e3` the execution that
 * call 3 started, `f9` the fence of call 9's claims.
 */

/** Names a call; calls inside a transaction are `12/0`, `12/1`. */
export type CallId = string;
/** `t7.0` */
export type TaskName = string;
/** `e3` */
export type ExecutionName = string;
/** `f9` */
export type FenceName = string;
/** `b4`: the batch that call 4 made. */
export type BatchName = string;
/** `w4.0`: its first wave. */
export type WaveName = string;
/** `s4 nightly`: the schedule of that name that call 4 set first. */
export type ScheduleName = string;
