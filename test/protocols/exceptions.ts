/** Frames of the vectors that we read otherwise, on purpose: id → why. One that differs no more has to leave the list. */
export const exceptions: Readonly<Record<string, string>> = {}
