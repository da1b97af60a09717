import { enableCompileCache } from 'node:module'

enableCompileCache()
const { main } = await import('./commands.ts')
await main(process.argv)
