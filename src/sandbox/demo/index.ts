import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { UserError } from '../../errors.ts'
import type { Ports } from '../../process/role-process.ts'
import { supervision } from '../../process/start.ts'
import { Supervisor } from '../../process/supervisor.ts'
import { createTrackingClient } from '../../tracking/client.ts'
import { ROUTES_FROM } from '../fleet.ts'
import { listenToSignals, type Signals } from '../signals.ts'
import { runSimulation, type SimulationOutcome } from '../simulation.ts'
import {
  accountFor,
  countPositions,
  type Ending,
  isWhole,
  lastLine,
  NOTHING,
  readCustody,
  resultLines,
} from './account.ts'
import { startDisplay } from './display.ts'
import { BACKLOG_MS, MISTAKEN, mistakeLines } from './mistake.ts'
import {
  announcement,
  type DemoArguments,
  type DemoPlan,
  type DemoSite,
  demoPlan,
  fleetLabels,
  INTERVAL_MS,
  prepareSite,
} from './site.ts'
import { createScreen, type Screen } from './view.ts'

/**
 * Runs the whole product with simulated vans, in a separate folder, and checks that every acknowledged fix was delivered.
 * Returns the exit code: 0 if nothing is missing, else 1, or that of the signal that ended it. @throws UserError for a wrong
 * option, or if something cannot be started.
 */
export async function demoCommand(options: DemoArguments): Promise<number> {
  const plan = demoPlan(options)
  const demo = { plan, signals: listenToSignals(), screen: createScreen(process.stdout), site: await prepareSite(plan) }
  const log = await open(demo.site.logFile, 'a')
  const { ending, clean } = await runSystem(demo, log)
  await log.close()
  return conclude(demo, ending, clean)
}

interface Demo {
  readonly plan: DemoPlan
  readonly signals: Signals
  readonly screen: Screen
  readonly site: DemoSite
}

/** Output of the processes goes to the log file: the screen shows the vans. */
async function runSystem(demo: Demo, log: FileHandle): Promise<{ ending: Ending; clean: boolean }> {
  const { signals, site, screen } = demo
  const logger = pino({ level: 'warn' }, pino.destination({ dest: log.fd, sync: true }))
  const system = new Supervisor({ ...(await supervision(site.configDir)), logger, output: log.fd })
  const hurry = signals.within(STOP_BY_MS)
  try {
    screen.say('', screen.paint('dim', '  Starting Redis, tracking service, workers, admin port and gateway …'))
    const ports = await Promise.race([system.ready, aborted(signals.stop)])
    const ending = ports ? await drive(demo, ports) : NOTHING
    return { ending, clean: await system.stop(hurry) }
  } catch (error) {
    await system.stop(hurry)
    if (error instanceof UserError) await site.remove()
    throw error
  }
}

async function drive({ plan, signals, site, screen }: Demo, ports: Ports): Promise<Ending> {
  const { fleet, drivingMs, mistake } = plan
  screen.say(...announcement(site, ports, screen.paint))
  if (mistake) screen.say(...mistakeLines(mistake, { fleet, configDir: site.configDir, paint: screen.paint }))
  const backlog = mistake && { from: mistake.from, intervalMs: BACKLOG_MS }
  const before = mistake ? (Date.now() - mistake.from) / BACKLOG_MS : 0
  const expected = Math.ceil(fleet.length * (drivingMs / INTERVAL_MS + before))
  const shown = { screen, adminPort: ports.admin, dataDir: site.dataDir }
  const display = startDisplay({ ...shown, fleet: fleetLabels(fleet), drivingMs, expected })
  const outcome = await runSimulation({
    host: '127.0.0.1',
    ports,
    vans: fleet,
    intervalMs: INTERVAL_MS,
    backlog,
    durationMs: drivingMs,
    patienceMs: PATIENCE_MS,
    answerMs: ANSWER_MS,
    seed: 1,
    keepTrips: true,
    stop: signals.stop,
    hurry: signals.within(ACKNOWLEDGED_BY_MS),
    onProgress: (progress) => display.vans(progress),
    progressMs: 200,
  })
  display.vans(outcome)
  display.phase('delivering')
  await untilDelivered(site, ports, { acked: outcome.acked, signal: signals.within(DELIVERED_BY_MS) })
  display.phase('reading back')
  const account = await readBack(site, ports, { plan, outcome })
  await display.end()
  const { stored, received } = countPositions(join(site.dataDir, 'tracking.sqlite'))
  return { account, outcome, status: display.status, duplicates: received - stored }
}

/**
 * Waits until the gateway has all acknowledged fixes and none waits, the patience is over, or the signal comes. Fixes of
 * protocols without answers may still be on their way.
 */
async function untilDelivered(
  { dataDir }: DemoSite,
  { admin }: Ports,
  { acked, signal }: { acked: number; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline && !signal.aborted) {
    const status = await readCustody(admin, dataDir)
    if (status?.waiting === 0 && status.delivered + status.parked + status.held + status.filtered >= acked) return
    await pause(100)
  }
}

async function readBack(
  site: DemoSite,
  { tracking }: Ports,
  { plan, outcome }: { plan: DemoPlan; outcome: SimulationOutcome },
) {
  const baseUrl = `http://127.0.0.1:${tracking}`
  const client = createTrackingClient({ baseUrl, timeoutMs: READ_TIMEOUT_MS, connections: 8 })
  const journeys = plan.fleet.flatMap(({ id }, index) => {
    const trip = outcome.trips.get(id)
    const route = routeOf(index)
    const otherRoute = plan.mistake && index < MISTAKEN ? routeOf(MISTAKEN - 1 - index) : undefined
    return trip ? [{ company: site.companyId, route, otherRoute, oauthToken: site.oauthToken, trip }] : []
  })
  const account = await accountFor(client, journeys)
  await client.close()
  return account
}

/** Prints the result; the last line is for programs. */
async function conclude({ screen, signals, site }: Demo, ending: Ending, clean: boolean): Promise<number> {
  const code = exitCode(ending, clean, signals)
  const style = isWhole(ending) ? 'green' : 'yellow'
  screen.say('', ...resultLines(ending).map((sentence) => screen.paint(style, `  ${sentence}`)))
  if (code === 0) await site.remove()
  else screen.say(screen.paint('dim', `  Its configuration, data and log are in ${site.folder}.`))
  screen.say('', lastLine(ending))
  return code
}

/** After a signal, fixes without an acknowledgement are no fault. */
function exitCode(ending: Ending, clean: boolean, signals: Signals): number {
  if (signals.stop.aborted) return clean && ending.account.lost === 0 ? 0 : signals.exitCode()
  return isWhole(ending) ? 0 : 1
}

function routeOf(index: number): string {
  return String(ROUTES_FROM + index + 1)
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined))
  })
}

const PATIENCE_MS = 60_000
const ANSWER_MS = 5000
const READ_TIMEOUT_MS = 10_000
/** After a signal: the time for each step, so that everything ends within 10 s. */
const ACKNOWLEDGED_BY_MS = 2000
const DELIVERED_BY_MS = 4000
const STOP_BY_MS = 8500
