import type { JSX } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api } from '../data/api.ts'
import { useClock } from '../data/clock.ts'
import { useAsked, useFleet, useLive } from '../data/hooks.ts'
import type { LiveState } from '../data/live-feed.ts'
import { useMayNot } from '../data/may-change.ts'
import { matches, nameOf } from '../data/van.ts'
import { collator, exact } from '../format.ts'
import { go, href } from '../router.ts'
import { words } from '../words/index.ts'
import { Foreign, messageOf } from './basics.tsx'
import { Icon, type IconName } from './icon.tsx'
import { toast } from './toast.tsx'

/** Something that the palette leads to, or does. */
interface Hit {
  readonly key: string
  readonly icon: IconName
  readonly text: string
  readonly note?: string
  /** Why the token may not do it. */
  readonly mayNot?: string
  readonly run: () => void
}

/** The views, in their order. */
export const VIEWS = ['now', 'vans', 'day', 'roster', 'arrivals', 'trial', 'queues', 'activity'] as const

/** The views that there are now: that of the trial while one runs. */
export function viewsNow({ status }: Pick<LiveState, 'status'>): (typeof VIEWS)[number][] {
  return VIEWS.filter((view) => view !== 'trial' || status?.on_trial === true)
}

/** Calls `open` when somebody presses `/` anywhere but in a field or a dialog. */
export function useSlash(open: () => void): void {
  const latest = useRef(open)
  latest.current = open
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

/** Finds a van, a route, a view or an action by some letters; Enter opens the marked hit, at first the best one. */
export function Palette({ close, signOut }: { close: () => void; signOut: () => void }): JSX.Element {
  const [text, setText] = useState('')
  const [marked, mark] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const isEntered = useRef(false)
  const id = useId()
  const { hits, isLoaded } = useHits(text, signOut)
  const chosen = Math.min(marked, hits.length - 1)
  // Before the next key is read.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
    if (isEntered.current && hits.length > 0 && isLoaded) take(hits[chosen])
  })

  const take = (hit: Hit | undefined) => {
    isEntered.current = false
    if (!hit) return
    if (hit.mayNot !== undefined) return toast(hit.mayNot, 'failed')
    close()
    hit.run()
  }
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && hits.length > 0) mark((chosen + step + hits.length) % hits.length)
    // The best hit is unknown while vans are loading.
    else if (event.key === 'Enter' && !isLoaded) isEntered.current = true
    else if (event.key === 'Enter') take(hits[chosen])
    else return
    event.preventDefault()
  }
  return (
    <dialog
      class="dialog palette"
      ref={dialog}
      aria-label={words.palette.title}
      onCancel={(event) => (event.preventDefault(), close())}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <label class="search palette-search">
        <Icon name="search" size={14} />
        <span class="sr-only">{words.palette.title}</span>
        <input
          type="text"
          role="combobox"
          aria-expanded={hits.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={hits.length > 0 ? `${id}-${chosen}` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder={words.palette.title}
          value={text}
          onInput={(event) => {
            isEntered.current = false
            setText(event.currentTarget.value)
            mark(0)
          }}
          onKeyDown={press}
        />
      </label>
      <ul class="palette-hits" role="listbox" id={id} aria-label={words.palette.hits}>
        {hits.map((hit, index) => (
          <li
            key={hit.key}
            id={`${id}-${index}`}
            class="palette-hit"
            role="option"
            aria-selected={index === chosen}
            aria-disabled={hit.mayNot !== undefined}
            title={hit.mayNot}
            onPointerMove={() => mark(index)}
            onClick={() => take(hit)}
          >
            <Icon name={hit.icon} size={14} />
            <span class="palette-text">
              <Foreign text={hit.text} />
            </span>
            <span class="palette-note muted">
              {hit.mayNot === undefined ? hit.note && <Foreign text={hit.note} /> : words.readOnly}
            </span>
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p class="palette-none muted">{isLoaded ? words.palette.none : words.loading}</p>}
    </dialog>
  )
}

/** Returns the hits for a text, best first; without a text, the views and the actions. */
function useHits(text: string, signOut: () => void): { hits: readonly Hit[]; isLoaded: boolean } {
  const { vans, isLoaded, isCut } = useFleet()
  const wanted = text.trim().toLowerCase()
  const { answer: more } = useAsked(`palette ${isCut ? wanted : ''}`, async () =>
    isCut && wanted !== '' ? (await api.devices({ q: wanted, max_results: MOST_VANS })).results : [],
  )
  const actions = useActions(signOut)
  const live = useLive()
  const tabs = viewsNow(live)
  const hits = useMemo(() => {
    const views = tabs.map((view): Hit => {
      return { key: view, icon: view, text: words.nav[view], note: words.palette.view, run: () => go(href(view)) }
    })
    const fixed = [...views, ...actions].filter((hit) => hit.text.toLowerCase().includes(wanted))
    if (wanted === '') return fixed
    const known = new Map([...vans, ...(more ?? [])].map((van) => [van.id, van]))
    const found = [...known.values()].filter((van) => matches(van, wanted))
    const named = found.toSorted(
      (one, other) =>
        rankOf(nameOf(one), wanted) - rankOf(nameOf(other), wanted) || collator.compare(nameOf(one), nameOf(other)),
    )
    return [...named.slice(0, MOST_VANS).map(vanHit), ...routeHits([...known.values()], wanted), ...fixed]
  }, [vans, more, actions, wanted, tabs.length])
  return { hits, isLoaded: isLoaded || wanted === '' }
}

/** Ranks a name that equals the searched text before one that begins with it, and that before one with a word that does. */
function rankOf(name: string, wanted: string): number {
  const lower = name.toLowerCase()
  if (lower === wanted) return 0
  if (lower.startsWith(wanted)) return 1
  if (lower.split(/[\s-]+/).includes(wanted)) return 2
  return lower.includes(wanted) ? 3 : 4
}

type ListedVan = ReturnType<typeof useFleet>['vans'][number]

function vanHit(van: ListedVan): Hit {
  const { id, lane, name, problem } = van
  const note = problem?.message ?? (lane ? words.vans.onRoute(lane.route_id, lane.courier_id) : words.vans.noRoute)
  const run = () => go(href('vans', { id }))
  return { key: `van ${id}`, icon: 'vans', text: nameOf(van), note: name === undefined ? note : `${note} · ${id}`, run }
}

function routeHits(vans: readonly ListedVan[], wanted: string): Hit[] {
  const onRoutes = vans.filter(({ lane }) => lane?.route_id.toLowerCase().includes(wanted))
  const routes = [...Map.groupBy(onRoutes, ({ lane }) => lane?.route_id ?? '')]
  return routes
    .toSorted(([one], [other]) => rankOf(one, wanted) - rankOf(other, wanted) || collator.compare(one, other))
    .slice(0, MOST_ROUTES)
    .map(([route, on]) => ({
      key: `route ${route}`,
      icon: 'roster',
      text: words.palette.route(route),
      note: on.map(nameOf).join(', '),
      run: () => go(href('roster', { query: { q: route } })),
    }))
}

function useActions(signOut: () => void): readonly Hit[] {
  const { status } = useLive()
  const { other, change } = useClock()
  const mayNot = useMayNot()
  const hasParked = (status?.parked?.fixes ?? 0) > 0
  return useMemo(() => {
    const retry = () =>
      void api.retryParked({ all: true }).then(
        ({ retried }) => toast(words.act.retried(retried, exact(retried))),
        (error) => toast(messageOf(error), 'failed'),
      )
    const actions: Hit[] = [
      {
        key: 'problems',
        icon: 'warning',
        text: words.palette.problems,
        run: () => go(href('vans', { query: { problem: 'any' } })),
      },
      { key: 'put', icon: 'upload', text: words.palette.put, run: () => go(href('roster')) },
    ]
    if (hasParked) actions.push({ key: 'retry', icon: 'refresh', text: words.palette.retry, mayNot, run: retry })
    if (other !== undefined) actions.push({ key: 'clock', icon: 'swap', text: words.clock.change(other), run: change })
    actions.push({ key: 'sign out', icon: 'leave', text: words.token.forget, run: signOut })
    return actions
  }, [hasParked, other, mayNot])
}

const MOST_VANS = 8
const MOST_ROUTES = 4
