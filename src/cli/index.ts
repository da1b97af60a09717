import { writeFile } from 'node:fs/promises'

// A core dump has keys and positions in it: Linux leaves the memory out of it, also that of processes which this one starts.
await writeFile('/proc/self/coredump_filter', '0').catch(() => {})
const { main } = await import('./commands.ts')
await main(process.argv)
