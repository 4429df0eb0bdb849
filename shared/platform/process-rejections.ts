import type { RejectionSource } from "../ports/rejections";

/** Rejections of this process. */
export const processRejections: RejectionSource = process;
