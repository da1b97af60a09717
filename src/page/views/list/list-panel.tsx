import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { DevicesPutJson } from '../../../admin/schemas/device-import.ts'
import { api, evenIfRefused, type Tried } from '../../data/api.ts'
import { useAsked, useCompanies } from '../../data/hooks.ts'
import { bodyOf } from '../../data/list-file.ts'
import { exact } from '../../format.ts'
import { FailureNote, Foreign, Loading } from '../../parts/basics.tsx'
import { CompanyField } from '../../parts/company-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'
import { EntryChanges } from '../roster/entry-changes.tsx'
import { Figures } from '../roster/put-answer.tsx'
import { Refusal } from '../roster/put-panel.tsx'
import { PutFoot, PutHead } from '../roster/put-parts.tsx'
import { RemarkList } from '../roster/remark-list.tsx'
import { UndoDialog } from '../roster/undo-dialog.tsx'
import { type Chosen, ColumnFields } from './column-fields.tsx'
import { DoubtList } from './doubt-list.tsx'

interface ListPanelProps {
  readonly file: File
  readonly close: () => void
}

/** The user's decisions about a list. */
interface Decided {
  readonly company: string
  readonly columns: Chosen
  /** Ids by lines. */
  readonly accepted: Readonly<Record<string, string>>
}

/** A dropped list of vans: how it is read, what it would change, and which ids are doubtful; puts it, and undoes the put. */
export function ListPanel({ file, close }: ListPanelProps): JSX.Element {
  const companies = useCompanies()
  const [typed, setTyped] = useState<Partial<Decided>>({})
  const [done, setDone] = useState<DevicesPutJson>()
  const decided = { company: companies[0]?.company_id ?? '', columns: {}, accepted: {}, ...typed }
  const decide = (some: Partial<Decided>) => setTyped({ ...typed, ...some })
  return (
    <section class="panel put list" aria-label={words.list.title}>
      <PutHead file={file} isDone={done !== undefined} close={close} />
      {done ? (
        <Done {...{ done, file, close }} company={decided.company} />
      ) : (
        <>
          {companies.length !== 1 && (
            <div class="put-target">
              <CompanyField value={decided.company} change={(company) => decide({ company })} />
            </div>
          )}
          {decided.company !== '' && <Preview {...{ file, decided, decide }} put={setDone} />}
        </>
      )}
    </section>
  )
}

interface ListPreviewProps {
  readonly file: File
  readonly decided: Decided
  readonly decide: (some: Partial<Decided>) => void
  readonly put: (done: DevicesPutJson) => void
}

function Preview({ file, decided, decide, put }: ListPreviewProps): JSX.Element {
  const asked = useAsked(JSON.stringify(decided), () => send(file, decided, { dry_run: true }))
  const last = useRef<Tried<DevicesPutJson> | undefined>(undefined)
  if (asked.answer) last.current = asked.answer
  // Until the next answer arrives, the last one stays, so that nothing moves under the user's pointer.
  const answer = last.current
  if (asked.error && !answer) return <Refusal error={asked.error} again={asked.again} />
  if (!answer) return <Loading lines={3} />
  const { added, changed, columns, doubtful, notes = [], rejected, warnings = [], changes = [] } = answer
  const hasIds = columns.some(({ read_as }) => read_as === 'device')
  return (
    <div class={asked.isLoading ? 'is-waiting' : ''}>
      <ColumnFields columns={columns} chosen={decided.columns} choose={(chosen) => decide({ columns: chosen })} />
      {!hasIds && (
        <p class="list-note tone-error" role="alert">
          {words.list.noIds}
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="list-note tone-warning">
          <Foreign text={note} />
        </p>
      ))}
      {asked.error && <FailureNote error={asked.error} again={asked.again} />}
      <Counts answer={answer} />
      <DoubtList doubtful={doubtful} accepted={decided.accepted} accept={(accepted) => decide({ accepted })} />
      <RemarkList title={words.list.rejected} tone="error" remarks={rejected} />
      <RemarkList title={words.roster.warnings} tone="warning" remarks={warnings} />
      {changes.length > 0 && <EntryChanges changes={changes} />}
      <PutFoot
        answer={answer}
        note={
          hasIds && added + changed === 0
            ? words.list.nothingChanges
            : rejected.length + doubtful.length > 0 && words.list.restTaken
        }
        isDisabled={asked.isLoading || added + changed === 0}
        put={(how) => send(file, decided, how)}
        taken={(done) => {
          put(done)
          return undefined
        }}
      />
    </div>
  )
}

function Counts({ answer }: { answer: DevicesPutJson }): JSX.Element {
  const { added, changed, doubtful, rejected, takes = [], unchanged } = answer
  const figures = [
    [words.list.figure.added, added, 'ok'],
    [words.list.figure.changed, changed, 'info'],
    [words.list.figure.unchanged, unchanged, 'removed'],
    [words.list.figure.doubtful, doubtful.length, 'warning'],
    [words.list.figure.rejected, rejected.length, 'error'],
    ...(takes.length > 0 ? [[words.roster.figure.lose, takes.length, 'error'] as const] : []),
  ] as const
  return <Figures figures={figures} />
}

interface DoneProps {
  readonly done: DevicesPutJson
  readonly file: File
  readonly company: string
  readonly close: () => void
}

/** What was done, which lines are left to correct, and the undo. */
function Done({ done, file, company, close }: DoneProps): JSX.Element {
  const [undone, setUndone] = useState(false)
  const at = useRef(new Date().toISOString()).current
  const { added, changed, doubtful, put, rejected } = done
  const left = [...doubtful, ...rejected].toSorted((one, other) => one.line - other.line)
  const result = { writer: file.name, kind: 'put' as const, company_id: company, at, put }
  return (
    <>
      <Counts answer={done} />
      <RemarkList title={words.list.left} tone="warning" remarks={left} />
      <footer class="put-foot">
        <span role="status">{words.list.applied(exact(added), exact(changed))}</span>
        {put !== undefined && (
          <button type="button" class="button" onClick={() => setUndone(true)}>
            <Icon name="undo" size={14} />
            {words.roster.undo}
          </button>
        )}
      </footer>
      {undone && (
        <UndoDialog
          result={{ ...result, added, changed, removed: 0, rejected: [], warnings: [] }}
          close={(isChanged) => (isChanged ? close() : setUndone(false))}
        />
      )}
    </>
  )
}

/** Sends a put and resolves to its answer, also to a refusal because of lost routes, with its `message`. */
async function send(
  file: File,
  { company, columns, accepted }: Decided,
  how: Record<string, boolean>,
): Promise<Tried<DevicesPutJson>> {
  const query = { company_id: company, columns: jsonOf(columns), accept: jsonOf(accepted), ...how }
  return evenIfRefused(api.putDevices(query, bodyOf(file)), 'columns')
}

function jsonOf(value: object): string | undefined {
  return Object.keys(value).length > 0 ? JSON.stringify(value) : undefined
}
