/** Resolves once work is done, or that many ms have passed. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
