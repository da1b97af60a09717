import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startProduct } from '../rig/product.ts'
import { freePorts } from '../support/free-ports.ts'
import { findPrometheus } from '../support/prometheus.mjs'
import { temporaryDir } from '../support/running.ts'
import { ROOT } from '../support/structure/sources.ts'

const FOLDER = join(ROOT, 'docker/prometheus')
const programs = findPrometheus()
const MISSING = 'needs Prometheus (WAYBRIDGE_PROMETHEUS)'

/** Queries with an empty answer while nothing waits, fails, is refused or pushed, and without copies. */
const MAY_BE_EMPTY =
  /waybridge_(?:copy|findings|oldest|fixes_received|last_|push_requests|refused|fixes_filtered|decode_errors|bridge|pauses)|_bucket|restarts/

it.skipIf(!programs)(`the rules hold in their own tests; ${MISSING}`, () => {
  for (const args of [
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'rules.test.yaml'],
  ]) {
    const { status, stdout, stderr } = spawnSync(join(programs!, 'promtool'), args, { cwd: FOLDER, encoding: 'utf8' })
    expect(stdout + stderr).toContain('SUCCESS')
    expect(status).toBe(0)
  }
})

it.skipIf(!programs)(
  `a Prometheus that scrapes a running product answers every query of the dashboard; ${MISSING}`,
  async () => {
    const product = await startProduct({ 'devices.yaml': '"1": { company_id: 7, courier_id: 42, route_id: 1 }\n' })
    onTestFinished(async () => void (await product.end()))
    const ask = await startPrometheus(product.ports.admin)
    const up = async () =>
      (await ask('up{job="waybridge"} == 1 and count_over_time(waybridge_ready[1m]) > 2')).data.result.length
    await expect.poll(up).toBe(1)

    const text = readFileSync(join(ROOT, 'docker/grafana/dashboards/waybridge.json'), 'utf8')
    const { panels } = JSON.parse(text) as { panels: { targets?: { expr: string }[] }[] }
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(queries.length).toBeGreaterThan(30)
    const unanswered = async () => {
      const answers = await Promise.all(
        queries.map(async (query) => {
          const { status, data } = await ask(query.replaceAll('$__rate_interval', '30s'))
          return [query, status, MAY_BE_EMPTY.test(query) || data.result.length > 0]
        }),
      )
      return answers.filter(([, status, isFilled]) => status !== 'success' || !isFilled)
    }
    // A rate needs two samples, also of counters that appear later; during a slow scrape all answers are empty.
    await expect.poll(unanswered).toEqual([])
    const alerts = async () => (await ask('ALERTS{alertname="WaybridgeNotScraped"}')).data.result
    await expect.poll(alerts).toEqual([])
  },
)

interface PrometheusAnswer {
  readonly status: string
  readonly data: { readonly result: readonly object[] }
}

/** Runs Prometheus with the shipped configuration, scraping a product every two seconds; returns a query function. */
async function startPrometheus(adminPort: number): Promise<(query: string) => Promise<PrometheusAnswer>> {
  const dir = await temporaryDir()
  const shipped = readFileSync(join(FOLDER, 'prometheus.yml'), 'utf8')
  const own = shipped.replaceAll('15s', '2s').replace('"waybridge:8080"', `"127.0.0.1:${adminPort}"`)
  await writeFile(join(dir, 'prometheus.yml'), own)
  copyFileSync(join(FOLDER, 'rules.yaml'), join(dir, 'rules.yaml'))
  const [port] = await freePorts(1)
  const child = spawn(
    join(programs!, 'prometheus'),
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`],
    { cwd: dir, stdio: 'ignore' },
  )
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await expect
    .poll(() =>
      fetch(`${url}/-/ready`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  return async (query) => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`)
    return { data: { result: [] }, ...((await answer.json()) as object) } as unknown as PrometheusAnswer
  }
}
