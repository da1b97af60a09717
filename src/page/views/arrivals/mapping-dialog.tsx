import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { TriedJson, UnreadJson } from '../../../admin/schemas/mappings.ts'
import { api } from '../../data/api.ts'
import { coordinates, exact, fullTime } from '../../format.ts'
import { CopyButton, FailureNote, Foreign, Raw } from '../../parts/basics.tsx'
import { Dialog, Field } from '../../parts/dialog.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from '../../words/index.ts'

interface MappingDialogProps {
  readonly kind: UnreadJson
  /** The names that are taken. */
  readonly names: readonly string[]
  readonly close: (isSaved: boolean) => void
}

type TypedMapping = Readonly<Record<(typeof FIELDS)[number], string>>

/** Edits where JSON has its position, tries that on the kept messages, and saves it. It begins with the proposal. */
export function MappingDialog({ kind, names, close }: MappingDialogProps): JSX.Element {
  const { mapping: proposed = {}, doubts = [] } = kind.proposal ?? {}
  const [name, setName] = useState(() => freeName(names))
  const [typed, setTyped] = useState<TypedMapping>(() => typedOf(proposed))
  const [tried, setTried] = useState<TriedJson>()
  const [error, setError] = useState<unknown>()
  const mapping = mappingOf(typed, proposed)
  const put = (query: { readonly dry_run?: 'true' }) =>
    api.putMapping(name.trim(), mapping, { kind: kind.kind, ...query }).then(
      (answer) => {
        setError(undefined)
        setTried(answer.tried)
        return true
      },
      (failure: unknown) => {
        setError(failure)
        setTried(undefined)
        return false
      },
    )
  const save = async () => {
    if (!(await put({}))) return
    toast(words.json.ready(name.trim()))
    close(true)
  }
  const tryIt = () => void put({ dry_run: 'true' })
  useEffect(() => {
    if (kind.proposal) tryIt()
  }, [])
  const others = Object.keys(proposed).filter((key) => !FIELDS.some((field) => field === key))
  return (
    <Dialog
      title={words.json.dialog}
      hint={words.json.dialogHint}
      close={() => close(false)}
      submit={() => void save()}
      actions={
        <>
          <button type="button" class="button" onClick={tryIt} disabled={!name.trim()}>
            {words.json.try}
          </button>
          <button type="submit" class="button primary" disabled={!name.trim()}>
            {words.json.save}
          </button>
        </>
      }
    >
      <Field label={words.json.name} value={name} change={setName} required />
      {FIELDS.map((key) => (
        <Field
          key={key}
          label={words.json.field[key]}
          value={typed[key]}
          required={key === 'lat' || key === 'lon'}
          hint={doubts.includes(DOUBTS[key] ?? key) ? words.json.doubt : undefined}
          choices={CHOICES[key]}
          change={(text) => setTyped((before) => ({ ...before, [key]: text }))}
        />
      ))}
      {others.length > 0 && <p class="hint">{words.json.kept(others.join(', '))}</p>}
      {error !== undefined && <FailureNote error={error} />}
      {tried && <Tried tried={tried} />}
      <details>
        <summary>{words.json.yaml}</summary>
        <Raw text={yamlOf(name.trim(), mapping)} />
        <CopyButton text={yamlOf(name.trim(), mapping)} />
      </details>
    </Dialog>
  )
}

function Tried({ tried }: { readonly tried: TriedJson }): JSX.Element {
  return (
    <div role="status">
      <p>
        <strong>{words.json.understood(exact(tried.understood), exact(tried.payloads))}</strong>
      </p>
      <ul class="evidence" aria-label={words.json.reads}>
        {tried.results.slice(0, MOST_SHOWN).map(({ at, device, error, fixes }, index) => (
          <li key={index}>
            <span class="num">{fullTime(at)}</span> <Foreign text={device ?? fixes[0]?.device ?? words.json.noDevice} />{' '}
            {error !== undefined && <Foreign text={error} />}
            {fixes.map((fix, number) => (
              <span key={number} class="num">
                {[
                  fix.at === undefined ? '' : fullTime(fix.at),
                  coordinates(fix),
                  fix.speed === undefined ? '' : `${Math.round(fix.speed * 3.6)} ${words.unit.kmh}`,
                  fix.valid === false ? words.json.invalid : '',
                ]
                  .filter(Boolean)
                  .join(' · ')}{' '}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </div>
  )
}

function typedOf(mapping: Readonly<Record<string, unknown>>): TypedMapping {
  const { speed } = mapping
  const { path = speed, unit = '' }: SpeedText = typeof speed === 'object' && speed !== null ? speed : {}
  const textOf = (key: string) => (typeof mapping[key] === 'string' ? mapping[key] : '')
  const texts = FIELDS.map((key) => [key, textOf(key)])
  return {
    ...(Object.fromEntries(texts) as TypedMapping),
    speed: typeof path === 'string' ? path : '',
    speedUnit: unit,
  }
}

interface SpeedText {
  readonly path?: unknown
  readonly unit?: string
}

/** The mapping that is typed, with what the proposal reads besides. */
function mappingOf(typed: TypedMapping, proposed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const others = Object.entries(proposed).filter(([key]) => !FIELDS.some((field) => field === key))
  const { speed, speedUnit, ...paths } = typed
  const filled = Object.entries(paths)
    .map(([key, text]) => [key, text.trim()] as const)
    .filter(([, text]) => text !== '')
  const unit = speedUnit.trim()
  const measured = speed.trim() === '' ? [] : [['speed', { path: speed.trim(), ...(unit && { unit }) }] as const]
  return Object.fromEntries([...filled, ...measured, ...others])
}

/** JSON is YAML. */
function yamlOf(name: string, mapping: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(mapping).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`)
  return [`${name}:`, ...lines].join('\n')
}

function freeName(names: readonly string[]): string {
  for (let number = 1; ; number++) if (!names.includes(`json-${number}`)) return `json-${number}`
}

const FIELDS = [
  'device',
  'each',
  'time',
  'time_format',
  'lat',
  'lon',
  'speed',
  'speedUnit',
  'heading',
  'altitude',
  'accuracy',
] as const
const CHOICES: Readonly<Partial<Record<(typeof FIELDS)[number], readonly string[]>>> = {
  time_format: ['s', 'ms', 'iso'],
  speedUnit: ['ms', 'kmh', 'knots', 'mph'],
}
/** The keys of doubts that are called otherwise. */
const DOUBTS: Readonly<Partial<Record<(typeof FIELDS)[number], string>>> = { speedUnit: 'speed.unit', lon: 'lat' }
const MOST_SHOWN = 5
