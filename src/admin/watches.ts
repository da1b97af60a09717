import { grouped } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { CustodyWatch, type FixAccount, takeAccount } from './custody.ts'
import { DeviceWatch } from './device/condition.ts'
import { DeviceIndex, type DeviceIndexSources } from './device/device-index.ts'
import type { DeviceSources } from './device/list.ts'
import { FactGatherer, type FactSources, readUpstream } from './facts.ts'
import { Findings } from './findings.ts'
import { FlowHour } from './flow-hour.ts'
import { startGauges } from './gauges.ts'
import type { MonitoringSources } from './monitoring.ts'
import { RosterWatch } from './roster-facts.ts'
import type { RosterInEffect } from './roster/writes.ts'
import { linkRates, RateWatch } from './status.ts'

export interface WatchSources
  extends DeviceSources,
    Pick<FactSources, 'isVerified' | 'redisDir' | 'tokensRefused'>,
    Pick<MonitoringSources, 'readiness'>,
    Pick<DeviceIndexSources, 'speaks'> {
  readonly live: RosterInEffect
  readonly logger: Logger
}

/** Starts all that the admin process repeats: the account, the states of devices, the findings, and their gauges. */
export function startWatches(sources: WatchSources) {
  const { live, logger, redis } = sources
  const startedAt = Date.now()
  // One at a time; calls during a run share the result of the next run.
  const companyOf = (device: string) => sources.directory().find(device)?.company_id
  const custody = new CustodyWatch(
    grouped<void, FixAccount>(async (calls) =>
      Array<FixAccount>(calls.length).fill(await takeAccount(redis, companyOf)),
    ),
  )
  const account = () => custody.recent()
  const upstream = () => readUpstream(redis, startedAt)
  const rates = new RateWatch(redis)
  const index = new DeviceIndex({ ...sources, follow: (changed) => live.follow(changed) })
  const devices = new DeviceWatch({ ...sources, index })
  const roster = new RosterWatch({ ...sources, zone: () => live.config.time_zone })
  const gatherer = new FactGatherer({
    ...sources,
    companyOf,
    nameOf: (device) => sources.directory().find(device)?.name,
    upstream,
    custody: () => custody,
    devices: () => devices.groups(),
    roster: () => roster.read(),
  })
  const hour = new FlowHour(() => linkRates(rates.now(), gatherer.gateways))
  const findings = new Findings({ redis, gather: () => gatherer.gather(), logger })
  const gauges = startGauges({ ...sources, account, upstream, findings, gatherer, devices: () => devices.states() })
  findings.follow(({ finding: { subject } }) => subject.device !== undefined && index.touch(subject.device))
  return {
    account,
    custody,
    upstream,
    startedAt,
    rates,
    index,
    devices,
    gatherer,
    hour,
    findings,
    close() {
      for (const each of [rates, hour, custody, findings, gauges]) each.close()
      void index.close()
      void devices.close()
    },
  }
}
