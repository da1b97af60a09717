/** Runs a work when those before it are over, however they ended. */
export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Works that run one after another, in the order of the calls. */
export function inTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
