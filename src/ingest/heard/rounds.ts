/** Work that is done again and again. */
export interface Rounds {
  /** No more of it; resolves once the round that is under way is over. */
  stop(): Promise<void>
}

/** Does it at once and then once a second, one round at a time. */
export function everySecond(work: () => Promise<void>): Rounds {
  let running: Promise<void> | undefined
  const round = () => void (running ??= work().finally(() => (running = undefined)))
  const timer = setInterval(round, 1000).unref()
  round()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
