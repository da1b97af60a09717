import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Processes that tests start find the code compiled that earlier ones have loaded, as those of waybridge do.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache')

const ALL = ['test/**/*.test.ts']
/** Those that need a real browser or a real Prometheus, and minutes: `npm run test:page`. */
const PAGE = ['test/page/**/*.test.ts']
/**
 * Files that have a process of their own, as they run roles in it, or read all that a process counts. The others share processes:
 * to load the code anew for each file takes a third of the CPU time of all tests.
 */
const OWN = [
  'test/{chaos,e2e,observe,process}/**/*.test.ts',
  'test/admin/metrics.test.ts',
  'test/lanes/slow-script.test.ts',
]

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 4,
    expect: { poll: { timeout: 10_000 } },
    projects: [
      { extends: true, test: { name: 'own', include: OWN } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ALL,
          exclude: [...OWN, ...PAGE],
          isolate: false,
          setupFiles: 'test/support/each-file.ts',
        },
      },
      { extends: true, test: { name: 'page', include: PAGE } },
    ],
  },
})
