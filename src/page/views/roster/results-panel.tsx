import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { WriterResultJson } from '../../../admin/schemas/roster.ts'
import { api, unlessMissing } from '../../data/api.ts'
import { useAsked, useNow } from '../../data/hooks.ts'
import { useRefresh } from '../../data/refresh.ts'
import { age, exact } from '../../format.ts'
import { Ago, Empty, FailureNote, Foreign, Panel } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { words } from '../../words/index.ts'
import { PullFailure, RemarkList } from './remark-list.tsx'
import { UndoDialog } from './undo-dialog.tsx'

interface ResultsPanelProps {
  /** Grows when the roster is changed here. */
  readonly round: number
  readonly changed: () => void
}

/** The last result of each writer of the roster: a file, a pull or a token. The latest put of a company can be undone. */
export function ResultsPanel({ round, changed }: ResultsPanelProps): JSX.Element | null {
  const { answer: results, error, again } = useAsked(`results ${round}`, load, RELOAD_MS)
  useRefresh(['roster', 'audit'], again)
  const [undone, setUndone] = useState<WriterResultJson>()
  if (results === null || (results === undefined && !error)) return null
  return (
    <Panel title={words.roster.results} hint={words.roster.resultsHint}>
      {error && !results && <FailureNote error={error} again={again} />}
      {results?.length === 0 && (
        <Empty icon="roster" title={words.roster.noResults} text={words.roster.noResultsText} />
      )}
      <ul class="writers">
        {results?.map((result) => (
          <WriterItem
            key={`${result.kind} ${result.writer} ${result.company_id} ${result.at}`}
            result={result}
            undo={canUndo(result, results) ? () => setUndone(result) : undefined}
          />
        ))}
      </ul>
      {undone && (
        <UndoDialog
          result={undone}
          close={(isChanged) => {
            setUndone(undefined)
            if (isChanged) changed()
          }}
        />
      )}
    </Panel>
  )
}

function WriterItem({ result, undo }: { result: WriterResultJson; undo?: () => void }): JSX.Element {
  const now = useNow(15_000)
  const { writer, kind, list, company_id, at, added, changed, removed, rejected, warnings, undone } = result
  const { pulled_at, failing } = result
  const state = failing || rejected.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'ok'
  return (
    <li class={`writer ${undone ? 'is-undone' : ''}`}>
      <span class={`writer-mark is-${state}`}>
        <Icon name={state === 'error' ? 'close' : state} size={14} />
      </span>
      <div class="writer-body">
        <p class="writer-title">
          <Foreign text={writer} />
          <span class="tag">{words.roster.kind[list ?? kind]}</span>
          {undone && <span class="tag is-warning">{words.roster.undone}</span>}
        </p>
        <p class="finding-meta num">
          <Ago at={at} now={now} />
          {company_id !== undefined && <span>{words.roster.company(company_id)}</span>}
          <span>{words.roster.counts(exact(added), exact(changed), exact(removed))}</span>
          {(pulled_at ?? failing) !== undefined && (
            <span>
              {pulled_at === undefined ? words.roster.neverPulled : words.roster.pulledAt(age(pulled_at, now))}
            </span>
          )}
        </p>
        <PullFailure failing={failing} />
        <RemarkList title={words.roster.rejected} tone="error" remarks={rejected} />
        <RemarkList title={words.roster.warnings} tone="warning" remarks={warnings} />
      </div>
      {undo && (
        <ChangeButton type="button" class="button" onClick={undo}>
          <Icon name="undo" size={14} />
          {words.roster.undo}
        </ChangeButton>
      )}
    </li>
  )
}

/** Null: this admin port keeps no results. */
async function load(): Promise<readonly WriterResultJson[] | null> {
  return (await unlessMissing(api.roster()))?.results ?? null
}

/** Returns whether a put can be undone: only the latest of a company that was not undone. Results come latest first. */
function canUndo(result: WriterResultJson, results: readonly WriterResultJson[]): boolean {
  const latest = results.find(
    ({ put, undone, company_id }) => put !== undefined && !undone && company_id === result.company_id,
  )
  return result.put !== undefined && latest === result
}

const RELOAD_MS = 20_000
