import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useClock } from './data/clock.ts'
import { useLive } from './data/hooks.ts'
import type { LiveState } from './data/live-feed.ts'
import { useMayNot } from './data/may-change.ts'
import { count, time } from './format.ts'
import { Loading } from './parts/basics.tsx'
import { Icon } from './parts/icon.tsx'
import { Palette, useSlash, type VIEWS, viewsNow } from './parts/palette.tsx'
import { href, type PageAddress } from './router.ts'
import { words } from './words/index.ts'

type Tab = (typeof VIEWS)[number]

interface ShellProps {
  readonly place: PageAddress
  readonly signOut: () => void
  readonly children: ComponentChildren
}

/** Navigation, how fresh the data are, and the view. */
export function Shell({ place, signOut, children }: ShellProps): JSX.Element {
  const live = useLive()
  const main = useRef<HTMLElement>(null)
  const [isSearching, setSearching] = useState(false)
  useSlash(() => setSearching(true))
  const title = words.nav[tabOf(place.view)]
  useEffect(() => {
    document.title = `${title} · waybridge`
    main.current?.scrollTo(0, 0)
  }, [title, place.id])
  return (
    <div class={`shell ${live.by === 'lost' ? 'is-stale' : ''}`}>
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {words.skip}
      </a>
      <header class="rail">
        <a class="brand" href={href('now')} aria-label="waybridge">
          <Mark />
          <span>waybridge</span>
        </a>
        <button type="button" class="nav-link palette-open" onClick={() => setSearching(true)}>
          <Icon name="search" size={18} />
          <span class="nav-text">{words.palette.open}</span>
          <kbd aria-hidden="true">/</kbd>
        </button>
        <nav aria-label={words.nav.label}>
          {viewsNow(live).map((tab) => (
            <NavLink key={tab} tab={tab} isCurrent={tab === tabOf(place.view)} live={live} />
          ))}
        </nav>
        <ReadOnly />
        <ClockSwitch />
        <div class="rail-foot">
          <Freshness live={live} />
          <button
            type="button"
            class="button quiet small leave"
            onClick={signOut}
            aria-label={words.token.forget}
            title={words.token.forget}
          >
            <Icon name="leave" />
          </button>
        </div>
      </header>
      <main id="content" class="view" tabIndex={-1} ref={main}>
        {live.by === 'lost' && (
          <p class="stale-bar" role="alert">
            <Icon name="warning" />
            {live.heardAt === undefined ? words.live.never : words.live.since(time(live.heardAt))}
          </p>
        )}
        {/* The status names the time zone of all times. */}
        {live.status || live.by === 'lost' ? children : <Loading lines={8} />}
        <ReadOnly />
        <ClockSwitch />
      </main>
      {isSearching && <Palette close={() => setSearching(false)} signOut={signOut} />}
    </div>
  )
}

/** The tab that a view belongs to. */
function tabOf(view: string): Tab {
  if (view === 'point') return 'arrivals'
  return view in words.nav ? (view as Tab) : 'now'
}

function NavLink({ tab, isCurrent, live }: { tab: Tab; isCurrent: boolean; live: LiveState }): JSX.Element {
  const badge = badgeOf(tab, live)
  return (
    <a class="nav-link" href={href(tab)} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={tab} size={18} />
      <span class="nav-text">{words.nav[tab]}</span>
      {badge && <span class={`badge ${badge.kind}`}>{count(badge.n)}</span>}
    </a>
  )
}

/** Returns the number of things in a view that need attention: the length of its list. */
function badgeOf(tab: Tab, { status }: LiveState): { n: number; kind: string } | undefined {
  if (!status) return undefined
  const { findings } = status
  if (tab === 'now' && findings.length > 0)
    return { n: findings.length, kind: findings.some(({ severity }) => severity === 'error') ? 'error' : 'warning' }
  if (tab === 'queues' && status.parked?.fixes) return { n: status.parked.fixes, kind: 'warning' }
  return undefined
}

/** Names the time zone of all times on the page, and changes it. */
function ClockSwitch(): JSX.Element {
  const { zone, other, change } = useClock()
  const { clock } = words
  return other === undefined ? (
    <p class="clock">{clock.zone(zone)}</p>
  ) : (
    <button type="button" class="clock" title={clock.change(other)} onClick={change}>
      {clock.zone(zone)}
      <Icon name="swap" size={12} />
      <span class="sr-only">, {clock.change(other)}</span>
    </button>
  )
}

/** Shows that this token may change nothing. */
function ReadOnly(): JSX.Element | null {
  const mayNot = useMayNot()
  if (mayNot === undefined) return null
  return (
    <p class="clock read-only" title={mayNot}>
      <Icon name="lock" size={12} />
      {words.readOnly}
    </p>
  )
}

function Freshness({ live }: { live: LiveState }): JSX.Element {
  return (
    <span class={`freshness is-${live.by}`} role="status">
      <span class="pulse" />
      <span class="freshness-text">{words.live[live.by]}</span>
    </span>
  )
}

/** The sign of waybridge: a way over a bridge. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <path d="M4 15.5c3-6.5 13-6.5 16 0M4 15.5h16M8.4 11.9v3.6M15.6 11.9v3.6M12 10.7v4.8" />
    </svg>
  )
}
