import type { JSX } from 'preact'
import type { DeviceJson } from '../../../admin/schemas/devices.ts'
import type { LaneJson } from '../../../admin/schemas/lanes.ts'
import { useNow } from '../../data/hooks.ts'
import { age, coordinates, count, duration, exact, megabytes, withTimes } from '../../format.ts'
import { ForIt, Foreign, Panel, When } from '../../parts/basics.tsx'
import { Fact } from '../../parts/fact.tsx'
import { words } from '../../words/index.ts'
import { ZoneButton } from './zone-button.tsx'

/** Connection, last fix, and waiting and held fixes of a van. */
export function VanFacts({ detail, changed }: { detail: DeviceJson; changed: () => void }): JSX.Element {
  const now = useNow()
  const { air, connection, last_heard: heard, last_fix: fix, lane, held } = detail
  const filtered = filteredOf(detail)
  return (
    <Panel title={words.van.facts}>
      <dl class="facts">
        {connection && (
          <Fact name={words.van.connection} tone="ok">
            {words.for(duration(now - Date.parse(connection.connected_at)))}
          </Fact>
        )}
        {!connection && (heard?.transport === 'tcp' || heard?.transport === 'mqtt') && (
          <Fact name={words.van.connection} tone="zero">
            {words.van.notConnected}
          </Fact>
        )}
        {heard && (
          <Fact name={words.van.heard}>
            <span class="num">{age(heard.at, now)}</span>
          </Fact>
        )}
        {air && (
          <Fact name={words.van.air} tone={air.connects_anew ? 'warning' : ''}>
            <span class="num">{words.van.airAMonth(megabytes(air.bytes_per_month))}</span>
            {air.connects_anew && ` · ${words.van.connectsAnew}`}
          </Fact>
        )}
        {fix?.lat !== undefined && fix.lon !== undefined && (
          <Fact name={words.van.fix}>
            <span class="num">{coordinates({ lat: fix.lat, lon: fix.lon })}</span>
          </Fact>
        )}
        {filtered && (
          <Fact name={words.van.filtered} tone="warning">
            <span class="num">{age(filtered.at, now)}</span>
          </Fact>
        )}
        {lane && (
          <>
            <Fact name={lane.parked ? words.custody.parked : words.custody.waiting} tone={waitingTone(lane)}>
              <span class="num">{count(lane.waiting)}</span>
            </Fact>
            {lane.until_at && (
              <Fact name={words.van.until}>
                <When at={lane.until_at} />
              </Fact>
            )}
          </>
        )}
        {held.map(({ reason, fixes, oldest_at, offset }) => (
          <Fact key={reason} name={words.van.held(words.van.heldFor[reason] ?? reason)} tone="warning">
            <span class="num">{words.fixes(fixes, exact(fixes))}</span> · <span class="num">{age(oldest_at, now)}</span>
            {offset && <ZoneButton detail={detail} offset={offset} changed={changed} />}
          </Fact>
        ))}
      </dl>
      <OperatorFacts detail={detail} />
    </Panel>
  )
}

/** How the van is heard, and where its entry and its route are written. */
function OperatorFacts({ detail }: { detail: DeviceJson }): JSX.Element | null {
  const { last_heard: heard, lane, source } = detail
  const facts = [
    [words.van.heard, heard && [heard.protocol, heard.transport, heard.remote].filter(Boolean).join(' · ')],
    [words.van.filtered, filteredOf(detail)?.reason],
    [words.van.assignedBy, lane && withTimes(lane.source)],
    [words.van.entry, source && withTimes(source)],
  ].filter((fact): fact is [string, string] => Boolean(fact[1]))
  if (facts.length === 0) return null
  return (
    <ForIt>
      <dl class="facts">
        {facts.map(([name, text]) => (
          <Fact key={name} name={name}>
            <Foreign text={text} mono />
          </Fact>
        ))}
      </dl>
    </ForIt>
  )
}

/** A fix that was held is not filtered. */
function filteredOf({ last_filtered: last }: DeviceJson): DeviceJson['last_filtered'] {
  return last?.held ? undefined : last
}

/** Everything stored in a parked lane is parked. */
function waitingTone({ waiting, parked }: LaneJson): string {
  if (waiting === 0) return 'zero'
  return parked ? 'warning' : ''
}
