/** How often the process comes to other things while it does some work, and what came of the work. */
export async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let turns = 0
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const result = await work()
  clearImmediate(next)
  return { turns, result }
}
