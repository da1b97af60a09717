import type { JSX } from 'preact'
import type { ProcessJson, StatusJson } from '../../../admin/schemas/status.ts'
import { useNow } from '../../data/hooks.ts'
import { age, count, duration, exact } from '../../format.ts'
import { ForIt, Foreign, Panel, When } from '../../parts/basics.tsx'
import { Fact } from '../../parts/fact.tsx'
import { words } from '../../words/index.ts'
import { TestButton } from './test-button.tsx'

/** Where all fixes are that ever arrived; for some companies only: what is stored. */
export function CustodyPanel({ status }: { status: StatusJson }): JSX.Element {
  const { waiting, parked, held } = status
  const stored = { waiting: waiting?.fixes, parked: parked?.fixes, held: held?.fixes }
  const figures: Partial<NonNullable<StatusJson['custody']>> = status.custody ?? stored
  const shown = CUSTODY.flatMap((name) => (figures[name] === undefined ? [] : [[name, figures[name]] as const]))
  return (
    <Panel title={words.now.custody}>
      <dl class="facts">
        {shown.map(([name, fixes]) => (
          <Fact key={name} name={words.custody[name]} title={words.custodyMeans[name]} tone={toneOf(name, fixes)}>
            <span class="num" title={exact(fixes)}>
              {count(fixes)}
            </span>
          </Fact>
        ))}
      </dl>
    </Panel>
  )
}

function toneOf(name: string, value: number): string {
  if (value === 0) return 'zero'
  if (name === 'parked' || name === 'discarded') return 'warning'
  return ''
}

/** Whether the tracking API accepts positions. */
export function UpstreamPanel({ status }: { status: StatusJson }): JSX.Element {
  const { apis, upstream, waiting } = status
  const now = useNow()
  const { last_error: error } = upstream
  // A page in place of an answer has its own status, which may be 200.
  const answer = error?.code === 'not_the_api' ? error.code : (error?.status ?? error?.code)
  return (
    <Panel title={words.now.upstream} aside={<TestButton />}>
      <dl class="facts">
        <UpstreamState status={status} />
        {apis.length > 1 &&
          apis.map(({ api, companies, since_at, state }) => (
            <Fact key={api} name={api} title={companies.join(', ')} tone={state === 'up' ? 'ok' : 'error'}>
              <span class="nowrap">
                {words.now.upstreamState[state]} {words.since('')} <When at={since_at} />
              </span>
            </Fact>
          ))}
        {upstream.in_flight !== undefined && (
          <Fact name={words.now.inFlight} tone={upstream.in_flight === 0 ? 'zero' : ''}>
            <span class="num">{count(upstream.in_flight)}</span>
          </Fact>
        )}
        {upstream.slowest_ms !== undefined && (
          <Fact name={words.now.slowest} tone={upstream.slowest_ms > 5000 ? 'warning' : ''}>
            <span class="num">
              {upstream.slowest_ms < 1000 ? `${upstream.slowest_ms} ${words.unit.ms}` : duration(upstream.slowest_ms)}
            </span>
          </Fact>
        )}
        <Fact name={words.now.oldest} tone={waiting?.oldest_at ? '' : 'zero'}>
          {waiting?.oldest_at ? <span class="num">{age(waiting.oldest_at, now)}</span> : words.none}
        </Fact>
        {upstream.drained_at && (
          <Fact name={words.now.drained}>
            <When at={upstream.drained_at} />
          </Fact>
        )}
        {error && (
          <Fact name={words.now.lastError}>
            <span class="num">{age(error.at, now)}</span>
          </Fact>
        )}
      </dl>
      {error && (
        <ForIt>
          <p>
            <Foreign text={[answer, error.operation, error.message].filter(Boolean).join(' · ')} />
          </p>
        </ForIt>
      )}
    </Panel>
  )
}

/**
 * The state of the API. One that answers but refuses a company's apikey does not accept its positions; behind a server that
 * answers in its place, the API may be well.
 */
function UpstreamState({ status: { findings, upstream } }: { status: StatusJson }): JSX.Element {
  const isForeign = findings.some(({ code, ended_at }) => code === 'not_the_api' && ended_at === undefined)
  const state = isForeign ? words.now.notTheApi : words.now.upstreamState[upstream.state]
  const refused = findings.filter(({ code, ended_at }) => code === 'apikey_refused' && ended_at === undefined)
  const companies = [...new Set(refused.flatMap(({ subject }) => subject.company_id ?? []))]
  const isRefusing = upstream.state === 'up' && companies.length > 0
  const since = isRefusing ? refused.map(({ since_at }) => since_at).toSorted()[0] : upstream.since_at
  return (
    <Fact
      name={isRefusing ? words.now.refusesKey(companies.join(', ')) : state}
      tone={upstream.state === 'up' && !isRefusing ? 'ok' : 'error'}
    >
      <span class="nowrap">
        {words.since('')} <When at={since} />
      </span>
    </Fact>
  )
}

/** Figures of other receivers of the same positions. */
export function CopiesPanel({ copies }: { copies: NonNullable<StatusJson['copies']> }): JSX.Element {
  return (
    <Panel title={words.now.copies}>
      <dl class="facts">
        {copies.map(({ name, to, state, waiting, delivered, parked, discarded }) => {
          const shares = { delivered, waiting, parked, discarded }
          const shown = COPIED.filter((share) => share === 'delivered' || shares[share] > 0)
          return (
            <Fact key={name} name={name} title={`${to} · ${words.now.copyState[state]}`} tone={COPY_TONES[state]}>
              {state !== 'up' && `${words.now.copyState[state]} · `}
              <span class="num">
                {shown.map((share) => `${words.custody[share]} ${count(shares[share])}`).join(' · ')}
              </span>
            </Fact>
          )
        })}
      </dl>
    </Panel>
  )
}

export function ProcessesPanel({ processes }: { processes: readonly ProcessJson[] }): JSX.Element {
  const now = useNow()
  return (
    <Panel title={words.now.processes}>
      <dl class="facts">
        {processes.map(({ role, pid, host, since_at, restarts, last_seen_at }) => {
          const unseen = now - Date.parse(last_seen_at)
          return (
            <Fact
              key={`${host} ${pid}`}
              name={role}
              title={`${host} · ${pid}`}
              tone={unseen > UNSEEN_MS ? 'error' : ''}
            >
              {restarts > 0 && <span class="tone-warning">{words.now.restarts(restarts, exact(restarts))} · </span>}
              {unseen > UNSEEN_MS
                ? words.now.notSeen(duration(unseen))
                : words.for(duration(now - Date.parse(since_at)))}
            </Fact>
          )
        })}
      </dl>
    </Panel>
  )
}

const UNSEEN_MS = 10_000
const COPIED = ['delivered', 'waiting', 'parked', 'discarded'] as const
const COPY_TONES = { up: '', failing: 'warning', full: 'error' } as const
/** In the order in which they are shown. */
const CUSTODY = ['received', 'filtered', 'delivered', 'waiting', 'parked', 'held', 'discarded', 'difference'] as const
