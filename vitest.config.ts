import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'

// Processes that tests start find the code compiled that earlier ones have loaded, as those of waybridge do.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache')

const ALL = ['test/**/*.test.ts']
/** Those that need a real browser, a real Prometheus or openapi-typescript, and minutes: `npm run test:page`. */
const PAGE = ['test/page/**/*.test.ts']
/** A Mosquitto that is killed under load, half a minute: `npm run test:bridge`. */
const BRIDGE = ['test/e2e/bridge.test.ts']
/** Those that pack and install the product: `npm run test:package`. */
const PACKAGE = ['test/package/**/*.test.ts']
/** Containers, a service manager and a chart, by the documented commands: `npm run test:deploy`. */
const DEPLOY = ['test/deploy/**/*.test.ts']
/** The whole product on configurations of all kinds, and what takes ten seconds of CPU time or long waits: `npm run test:long`. */
const LONG = [
  'test/e2e/!(bridge|start).test.ts',
  'test/copies/{bounds,delivery,mqtt,settings}.test.ts',
  'test/store/{cluster,redis-tls,replication}.test.ts',
  'test/admin/{company-tokens,left-out,mappings,oidc,pull,redelivery,relay-readers,roster-facts}.test.ts',
  'test/cli/{import-traccar,product}.test.ts',
  'test/alerts/{alerts,failing,incidents}.test.ts',
  'test/gateway/admit/neighbours.test.ts',
  'test/gateway/wire/{decoder-faults,matrix,one-answer}.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/process/{backup,exit-codes,haproxy,priority,redis-start,role,supervisor,systemd,tracking,worker}.test.ts',
  'test/push/{apis,corrections,not-the-api,outage,rate}.test.ts',
  'test/sandbox/{demo,mistake,simulate,simulation}.test.ts',
  'test/sandbox/tracking/durability.test.ts',
  'test/tracking/openapi-requests.test.ts',
  'test/verify/verifier.test.ts',
]
/**
 * Files that have a process of their own, as they run roles in it, read all that a process counts, or set its monotonic
 * clock. The others share processes: to load the code anew for each file takes a third of the CPU time of all tests.
 */
const OWN = [
  'test/observe/*.test.ts',
  'test/process/{docker,live,tracking-embedded}.test.ts',
  'test/admin/{metrics,paging}.test.ts',
  'test/store/slow-script.test.ts',
]
/** Files of ten seconds and more begin first, so that none of them runs alone at the end. */
const FIRST =
  /test\/(admin\/relay-readers|cli\/product|e2e|gateway\/(admit\/haproxy|wire\/(matrix|one-answer))|process|protocols\/cost|push\/outage)\b/

class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]) {
    const order = ({ project, moduleId }: (typeof files)[number]) => `${project.name} ${FIRST.test(moduleId) ? 0 : 1}`
    // oxlint-disable-next-line no-array-sort -- it is no array's
    const bySize = await super.sort(files)
    return bySize.toSorted((one, other) => order(one).localeCompare(order(other)))
  }
}

export default defineConfig({
  test: {
    // For a machine that is ten times as slow. What is to happen within a time is measured by the test itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    expect: { poll: { timeout: 30_000 } },
    projects: [
      { extends: true, test: { name: 'own', include: OWN } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ALL,
          exclude: [...OWN, ...PAGE, ...BRIDGE, ...PACKAGE, ...DEPLOY, ...LONG],
          isolate: false,
          setupFiles: 'test/support/each-file.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'page',
          include: PAGE,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 180_000 } },
        },
      },
      { extends: true, test: { name: 'bridge', include: BRIDGE } },
      { extends: true, test: { name: 'package', include: PACKAGE, hookTimeout: 300_000 } },
      {
        extends: true,
        // Threads end with their process, also if that is killed.
        test: {
          name: 'deploy',
          include: DEPLOY,
          pool: 'threads',
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      { extends: true, test: { name: 'long', include: LONG } },
    ],
  },
})
