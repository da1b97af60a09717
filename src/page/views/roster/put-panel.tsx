import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { LineRemark, RosterPutJson } from '../../../admin/schemas/roster.ts'
import { api, evenIfRefused, type Tried } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { dayAfter, daysIn } from '../../data/day.ts'
import { useAsked, useCompanies } from '../../data/hooks.ts'
import { bodyOf, isSheet } from '../../data/list-file.ts'
import { exact } from '../../format.ts'
import { FailureNote, Loading } from '../../parts/basics.tsx'
import { CompanyField } from '../../parts/company-field.tsx'
import { doneText, RedeliverChoice, redeliverQuery } from '../../parts/redeliver-choice.tsx'
import { words } from '../../words/index.ts'
import { PutAnswer } from './put-answer.tsx'
import { PutFoot, PutHead } from './put-parts.tsx'
import { RemarkList } from './remark-list.tsx'

interface PutPanelProps {
  readonly file: File
  /** The shown day, which is replaced if the file cannot be read here. */
  readonly day: string
  readonly close: (isChanged: boolean) => void
}

interface Target {
  readonly company: string
  readonly first: string
  readonly last: string
  readonly onlyListed: boolean
}

/** A dropped file: what it would change, by van, and the button that puts it. */
export function PutPanel({ file, day, close }: PutPanelProps): JSX.Element {
  const companies = useCompanies()
  const [typed, setTyped] = useState<Partial<Target>>({})
  const read = useAsked('file', () => readRoster(file))
  const found = read.answer?.days
  const target: Target = {
    company: companies[0]?.company_id ?? '',
    first: found?.first ?? day,
    last: found?.last ?? found?.first ?? day,
    onlyListed: false,
    ...typed,
  }
  const body = read.answer?.body
  return (
    <section class="panel put" aria-label={words.roster.putTitle}>
      <PutHead file={file} close={() => close(false)} />
      <TargetFields target={target} change={(some) => setTyped({ ...typed, ...some })} />
      {read.error && <FailureNote error={read.error} />}
      {body && target.company !== '' && target.last >= target.first && (
        <Preview
          key={JSON.stringify(target)}
          {...{ body, target, close }}
          narrow={() => setTyped({ ...typed, onlyListed: true })}
        />
      )}
      {target.last < target.first && <FailureNote error={new Error(words.roster.daysTurned)} />}
    </section>
  )
}

interface TargetFieldsProps {
  readonly target: Target
  readonly change: (some: Partial<Target>) => void
}

function TargetFields({ target, change }: TargetFieldsProps): JSX.Element {
  return (
    <div class="put-target">
      {useCompanies().length !== 1 && <CompanyField value={target.company} change={(company) => change({ company })} />}
      {(['first', 'last'] as const).map((name) => (
        <label key={name} class="field">
          <span>{words.roster.replace[name]}</span>
          <input
            type="date"
            value={target[name]}
            onChange={(event) => event.currentTarget.value && change({ [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={target.onlyListed}
          onChange={(event) => change({ onlyListed: event.currentTarget.checked })}
        />
        <span>{words.roster.onlyListed}</span>
      </label>
    </div>
  )
}

interface PreviewProps {
  readonly body: Blob
  readonly target: Target
  readonly close: (isChanged: boolean) => void
  /** Leaves vans that the file does not name unchanged. */
  readonly narrow: () => void
}

/** Shows what the file would change on these days, by the admin port's dry run; then puts it. */
function Preview({ body, target, close, narrow }: PreviewProps): JSX.Element {
  const { answer, error, again } = useAsked('dry run', () => put(body, target, { dry_run: true }))
  const [isRedelivered, setRedelivered] = useState(true)
  if (error) return <Refusal error={error} again={again} />
  if (!answer) return <Loading lines={3} />
  const { added, changed, removed } = answer
  const isNothing = added + changed + removed === 0
  return (
    <>
      <PutAnswer answer={answer} day={target.first === target.last ? target.first : undefined} />
      <RedeliverChoice redeliver={answer.redeliver} isWanted={isRedelivered} want={setRedelivered} />
      <PutFoot
        answer={answer}
        note={isNothing ? words.roster.nothingChanges : answer.rejected.length > 0 && words.roster.restTaken}
        isDisabled={isNothing}
        put={(how) => put(body, target, { ...how, ...redeliverQuery(answer.redeliver, isRedelivered) })}
        taken={(done) => {
          close(true)
          const text = words.roster.applied(exact(done.added), exact(done.changed), exact(done.removed))
          return doneText(text, answer.redeliver && done.redeliver, isRedelivered)
        }}
        narrow={target.onlyListed ? undefined : narrow}
      />
    </>
  )
}

/** Why the whole file is refused; line by line if the admin port returns that. */
export function Refusal({ error, again }: { error: Error; again: () => void }): JSX.Element {
  const errors = error instanceof RequestError ? (error.body as { errors?: readonly Remark[] } | undefined)?.errors : []
  return (
    <>
      <FailureNote error={error} again={again} />
      {errors && errors.length > 0 && (
        <RemarkList title={words.roster.rejected} tone="error" remarks={errors.map(lineOf)} />
      )}
    </>
  )
}

interface Remark {
  readonly path: string
  readonly message: string
}

function lineOf({ path, message }: Remark): LineRemark {
  const line = /^line (\d+)$/.exec(path)?.[1]
  return line ? { line: Number(line), message } : { line: 0, message: `${path}: ${message}` }
}

/** Sends a put and resolves to its answer, also to a refusal because of lost routes, with its `message`. */
function put(body: Blob, target: Target, how: Record<string, boolean>): Promise<Tried<RosterPutJson>> {
  const { company, first, last, onlyListed } = target
  const query = {
    company_id: company,
    from: first,
    until: dayAfter(last),
    only_listed: onlyListed || undefined,
    ...how,
  }
  return evenIfRefused(api.putRoutes(query, body), 'without_route')
}

/** Returns the file as it is sent, and its days; undefined for a workbook, which the admin port reads. */
async function readRoster(file: File) {
  return { body: bodyOf(file), days: isSheet(file) ? undefined : daysIn(await file.text()) }
}
