import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { useFleet } from '../../data/hooks.ts'
import { CONDITIONS, type Condition, conditionOf, matches } from '../../data/van.ts'
import { count, exact } from '../../format.ts'
import { MapView } from '../../map/map-view.tsx'
import { FailureNote, Loading } from '../../parts/basics.tsx'
import { DropArea } from '../../parts/drop-area.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { NoVans } from '../../parts/no-vans.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { go, href, type PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { ListPanel } from '../list/list-panel.tsx'
import { VanCard } from './van-card.tsx'
import { VanTable } from './van-table.tsx'

type Show = 'table' | 'both' | 'map'

/** All vans as a table and on a map; search, condition and kind of view are in the address. */
export function Vans({ place: { query } }: { place: PageAddress }): JSX.Element {
  const { vans, isLoaded, isCut, error } = useFleet()
  const [chosen, choose] = useState<string>()
  const [file, setFile] = useState<File>()
  const q = query.get('q') ?? ''
  const condition = CONDITIONS.find((each) => each === query.get('condition'))
  const show = (query.get('show') ?? 'both') as Show
  const isWrong = query.get('problem') !== null
  const set = (changed: Record<string, string | undefined>) =>
    go(href('vans', { query: { ...Object.fromEntries(query), ...changed } }), { replace: true })
  const found = useMemo(() => vans.filter((van) => matches(van, q)), [vans, q])
  const shown = useMemo(() => {
    const some = isWrong ? found.filter(({ problem }) => problem) : found
    return condition ? some.filter((van) => conditionOf(van) === condition) : some
  }, [found, condition, isWrong])
  const marked = chosen === undefined ? undefined : shown.find(({ id }) => id === chosen)
  return (
    <div class="vans">
      <header class="view-head">
        <h1>
          {words.nav.vans} <span class="view-count num">{exact(shown.length)}</span>
        </h1>
        <SearchField label={words.vans.search} value={q} change={(text) => set({ q: text || undefined })} />
        <Segments
          label={words.vans.show}
          value={show}
          choices={(['table', 'both', 'map'] as const).map((value) => ({ value, text: words.vans.as[value] }))}
          choose={(value) => set({ show: value === 'both' ? undefined : value })}
        />
        <FileButton text={words.list.choose} take={setFile} tone="quiet" />
      </header>
      <DropArea text={words.list.dropHere} take={setFile}>
        {file && (
          <ListPanel
            key={`${file.name} ${file.lastModified} ${file.size}`}
            file={file}
            close={() => setFile(undefined)}
          />
        )}
      </DropArea>
      <Filters
        vans={found}
        condition={condition}
        isWrong={isWrong}
        choose={(value) => set({ condition: value, problem: undefined })}
        chooseWrong={() => set({ problem: isWrong ? undefined : 'any', condition: undefined })}
      />
      {isCut && <p class="hint">{words.vans.cut(exact(vans.length))}</p>}
      {error && !isLoaded ? (
        <FailureNote error={error} />
      ) : !isLoaded ? (
        <Loading lines={9} />
      ) : vans.length === 0 ? (
        <section class="panel">
          <NoVans tone="primary" />
        </section>
      ) : (
        <div class={`vans-body shows-${show}`}>
          {show !== 'map' && <VanTable key={`${isWrong}`} vans={shown} chosen={chosen} isByUnseen={isWrong} />}
          {show !== 'table' && (
            <div class="vans-map">
              <MapView
                label={words.map.label}
                vans={shown}
                chosen={chosen}
                choose={(van) => choose(van?.id)}
                fitKey={`${condition} ${isWrong} ${show}`}
              />
              {marked && <VanCard van={marked} close={() => choose(undefined)} />}
            </div>
          )}
        </div>
      )}
    </div>
  )
}

interface FiltersProps {
  readonly vans: readonly DeviceRowJson[]
  readonly condition: Condition | undefined
  readonly isWrong: boolean
  readonly choose: (condition: Condition | undefined) => void
  readonly chooseWrong: () => void
}

/** One button for the vans with a problem, and one for each condition that at least one van has. */
function Filters({ vans, condition, isWrong, choose, chooseWrong }: FiltersProps): JSX.Element {
  const wrong = useMemo(() => vans.filter(({ problem }) => problem).length, [vans])
  const numbers = useMemo(() => {
    const counted = new Map<Condition, number>()
    for (const van of vans) counted.set(conditionOf(van), (counted.get(conditionOf(van)) ?? 0) + 1)
    return counted
  }, [vans])
  return (
    <div class="filters" role="group" aria-label={words.vans.filter}>
      {(wrong > 0 || isWrong) && (
        <button
          type="button"
          class="filter is-problem"
          aria-pressed={isWrong}
          title={words.vans.problemMeans}
          onClick={chooseWrong}
        >
          <Icon name="warning" size={12} />
          {words.vans.withProblem}
          <span class="num muted">{count(wrong)}</span>
        </button>
      )}
      {CONDITIONS.filter((each) => numbers.has(each) || each === condition).map((each) => (
        <button
          key={each}
          type="button"
          class="filter"
          aria-pressed={each === condition}
          title={words.conditionMeans[each]}
          onClick={() => choose(each === condition ? undefined : each)}
        >
          <span class={`dot c-${each}`} />
          {words.condition[each]}
          <span class="num muted">{count(numbers.get(each) ?? 0)}</span>
        </button>
      ))}
    </div>
  )
}
