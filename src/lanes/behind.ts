/** A lane whose oldest record waits for longer is behind: its newest goes first. */
export const BEHIND_MS = 60_000
