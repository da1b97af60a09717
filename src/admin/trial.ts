import { needsLook, trialVerdict } from '../diagnose/trial.ts'
import { belongedAt } from '../roster/device-entry.ts'
import type { Roster } from '../roster/roster.ts'
import { readTrialAccount, readTriedDevices, type Store, type TriedDevice } from '../store/index.ts'
import type { WithTexts } from '../texts/language.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { TrialJson, type TriedDeviceJson } from './schemas/trial.ts'
import type { Scope } from './scope.ts'

interface TrialSources {
  readonly redis: Store
  readonly directory: () => Roster
  /** How many listeners of live gateways have an old server. */
  readonly trials: () => number
}

/** `GET /admin/trial`: what came through old servers, by device, and the conclusion. */
export function trialOperation(sources: TrialSources): Operation {
  return {
    method: 'GET',
    path: '/admin/trial',
    id: 'getTrial',
    summary: 'Get the verdict of the trials, and what they have seen of each device: those that want a look first',
    answer: TrialJson,
    reads: 'positions',
    companies: 'filtered',
    handle: ({ caller }, _reply, scope) => trialJson(sources, scope, caller?.role === 'operate'),
  }
}

/** `hasBytes`: whether what devices send is shown. */
async function trialJson(
  { redis, directory, trials }: TrialSources,
  scope: Scope,
  hasBytes: boolean,
): Promise<WithTexts<TrialJson>> {
  const [account, tried] = await Promise.all([readTrialAccount(redis), readTriedDevices(redis)])
  const roster = directory()
  const seen = tried.filter(({ device }) => scope.sees(roster.find(device)?.company_id))
  const inOrder = seen.toSorted(
    (one, other) =>
      Number(needsLook(other.counts)) - Number(needsLook(one.counts)) ||
      other.counts.answers_different - one.counts.answers_different ||
      (one.device < other.device ? -1 : 1),
  )
  return {
    verdict: trialVerdict(seen.map(({ counts }) => counts)),
    running: trials() > 0,
    account: scope.isAll ? account : undefined,
    devices: inOrder.slice(0, MOST_DEVICES).map((each) => deviceJson(each, roster, hasBytes)),
    left_out: Math.max(0, seen.length - MOST_DEVICES),
  }
}

function deviceJson(
  { counts, device, difference, protocol }: TriedDevice,
  roster: Roster,
  hasBytes: boolean,
): TriedDeviceJson {
  const entry = roster.find(device)
  const isShown = difference && hasBytes && (!entry || belongedAt(entry, difference.at))
  return {
    device,
    name: entry?.name,
    company_id: entry?.company_id,
    configured: entry !== undefined,
    protocol,
    ...counts,
    first_difference: isShown ? { ...difference, at: instant(difference.at) ?? '' } : undefined,
    trial: entry?.trial ?? 'on',
    feed: entry?.feed ?? false,
  }
}

const MOST_DEVICES = 1000
