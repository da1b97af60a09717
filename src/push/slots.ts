/** A bound on how many things happen at once; what is beyond it waits its turn. */
export interface Slots {
  /** Runs `work` as soon as a slot is free. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Changes the bound; what runs is not disturbed. */
  resize(size: number): void
}

export function createSlots(size: number): Slots {
  const waiting: (() => void)[] = []
  let bound = size
  let taken = 0

  function free(): void {
    while (taken < bound && waiting.length > 0) {
      taken++
      waiting.shift()?.()
    }
  }

  return {
    async run(work) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        free()
      })
      try {
        return await work()
      } finally {
        taken--
        free()
      }
    },
    resize(next) {
      bound = next
      free()
    },
  }
}
