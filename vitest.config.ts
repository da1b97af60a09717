import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Processes that tests start find the code compiled that earlier ones have loaded, as those of waybridge do.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache')

/** Tests of code that keeps nothing: files share a process, of which each of the others has its own (0.3 s of CPU). */
const PURE = [
  'test/{diagnose,protocols}/**/*.test.ts',
  'test/cli/{clock,reason,roster}.test.ts',
  'test/config/{csv,times,units}.test.ts',
  'test/ingest/{guesses,network,place,suspicion}.test.ts',
  'test/listen/{forwarded,partial-frames,proxy-header,received-bytes,token-bucket,udp-sessions}.test.ts',
  'test/push/outcome.test.ts',
  'test/roster/{directory,flow-lines,loss,roster,spans}.test.ts',
  'test/simulate/{options,speeches,van,view}.test.ts',
  'test/tracking/{client-masked,printable-url}.test.ts',
]
const ALL = ['test/**/*.test.ts']

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 4,
    expect: { poll: { timeout: 10_000 } },
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      { extends: true, test: { name: 'system', include: ALL, exclude: PURE } },
    ],
  },
})
