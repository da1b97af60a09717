import { apiOf, testApis, testedCompanies } from '../admin/apis.ts'
import { loadConfig } from '../config/files.ts'
import type { Config } from '../config/schema.ts'
import { UserError } from '../errors.ts'
import { readPorts } from '../process/listener-ports.ts'
import { rosterOf } from '../roster/file-version.ts'
import type { Roster } from '../roster/roster.ts'
import { english } from '../texts/text.ts'
import { type CompanyTest, isWell, type TestStep } from '../tracking/api-test/index.ts'
import { type PullStep, testPull } from './check-pulls.ts'
import { countText, printLines } from './output.ts'
import { idOption } from './positions.ts'

export interface ApiOptions {
  readonly push?: boolean
  readonly company?: string
  readonly courier?: string
  readonly route?: string
}

/**
 * `waybridge check --live`: tests the tracking API for each company, and the rosters that are pulled for it. @returns the exit code
 * @throws UserError
 */
export async function checkLive(dir: string, options: ApiOptions): Promise<number> {
  const { protocolPorts } = await import('../../protocols/index.ts')
  const { config, files } = await loadConfig(dir, protocolPorts)
  if (config.companies.length === 0) throw new UserError(`${dir}: ${NO_COMPANIES}`)
  const [company_id, courier_id, route_id] = (['company', 'courier', 'route'] as const).map((name) => {
    return options[name] === undefined ? undefined : idOption(`--${name}`, options[name])
  })
  const choice = { company_id, courier_id, route_id, push: options.push }
  const roster = await rosterOf(files)
  const tested = await testedCompanies(config.companies, roster, choice)
  if ('mistake' in tested) throw new UserError(`check --live: ${tested.mistake} (${OPTIONS}).`)
  const results = await testApis(apiOf(config, await baseUrlOf(config)), tested.companies)
  for (const result of results) printLines(testLines(result))
  const failed = results.filter(({ steps }) => !isWell(steps))
  const pulls = await testedPulls(config, roster, new Set(results.map((result) => result.company_id)))
  for (const { pull, steps } of pulls)
    printLines([`roster of company ${pull.company_id}, ${pull.name}`, ...steps.map(stepLine)])
  const unpulled = pulls.filter(({ steps }) => !isWell(steps))
  const wrong = [
    failed.length > 0 ? countText(failed.length, 'company', 'companies') : [],
    unpulled.length > 0 ? countText(unpulled.length, 'pulled roster') : [],
  ].flat()
  const well = pulls.length > 0 ? `${WELL} ${PULLED}` : WELL
  printLines([wrong.length === 0 ? well : `The test fails for ${wrong.join(' and ')}.`])
  return wrong.length === 0 ? 0 : 1
}

/** Tests each roster that is pulled for these companies. */
function testedPulls({ roster: { pull: pulls }, time_zone: zone }: Config, roster: Roster, ids: ReadonlySet<string>) {
  const asked = pulls.map((pull, index) => ({ pull, setting: `roster.pull[${index}]` }))
  return Promise.all(
    asked
      .filter(({ pull }) => ids.has(pull.company_id))
      .map(async ({ pull, setting }) => ({ pull, steps: await testPull(pull, { setting, roster, zone }) })),
  )
}

/** Returns a line for each step: the result, and what to change. */
function testLines({ company_id, name, steps }: CompanyTest): string[] {
  const head = `company ${company_id}${name === undefined ? '' : `, ${name}`}`
  return [head, ...steps.map(stepLine)]
}

function stepLine({ step, state, seen, action }: TestStep | PullStep): string {
  return `  ${MARKS[state]} ${step.padEnd(WIDEST)} ${english(seen)}${action === undefined ? '' : ` → ${english(action)}`}`
}

/** Returns the URL of the API; for the embedded service, the one that `start` has noted, else the configured one. */
async function baseUrlOf({ tracking, data_dir }: Config): Promise<string> {
  if (tracking.base_url !== null) return tracking.base_url
  const opened = await readPorts(data_dir).catch(() => undefined)
  return `http://127.0.0.1:${opened?.tracking ?? tracking.listen.port}`
}

const NO_COMPANIES =
  'there are no companies: add yours under companies in gateway.yaml; without them nothing is tested.'
const OPTIONS = '--company, --courier, --route'
const WELL = 'The tracking API is what it should be, as far as it was tested.'
const PULLED = 'So is each roster that is pulled.'
const MARKS = { ok: '✓', warning: '!', failed: '✖', skipped: '–' } as const
const WIDEST = 'oauth_token'.length
