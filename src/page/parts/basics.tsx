import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { RequestError } from '../data/client.ts'
import type { DeviceJson, DeviceRowJson } from '../../admin/schemas/devices.ts'
import { conditionOf, toneOf } from '../data/van.ts'
import { age, fullTime, time } from '../format.ts'
import { words } from '../words/index.ts'
import { Icon, type IconName } from './icon.tsx'

interface PanelProps {
  readonly title: string
  readonly hint?: string
  readonly class?: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a view under its heading. */
export function Panel({ title, hint, aside, children, class: more = '' }: PanelProps): JSX.Element {
  return (
    <section class={`panel ${more}`} aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        {hint && <span class="hint">{hint}</span>}
        {aside && <span class="panel-aside">{aside}</span>}
      </header>
      {children}
    </section>
  )
}

/** Shown in place of an empty list: why it is empty, and what to do next. */
export function Empty({
  icon,
  title,
  text,
  children,
}: {
  icon: IconName
  title: string
  text?: string
  children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={20} />
      </span>
      <p class="empty-title">{title}</p>
      {text && <p class="empty-text">{text}</p>}
      {children && <div class="empty-actions">{children}</div>}
    </div>
  )
}

/** A short instant, with its zone in the title. */
export function When({ at }: { at: string | undefined }): JSX.Element {
  if (at === undefined) return <span class="muted">{words.never}</span>
  return (
    <time class="num" dateTime={at} title={fullTime(at)}>
      {time(at)}
    </time>
  )
}

/** How long ago an instant was, with the instant in the title. */
export function Ago({ at, now }: { at: string; now: number }): JSX.Element {
  return (
    <span class="num" title={fullTime(at)}>
      {age(at, now)}
    </span>
  )
}

/** Text as it came, line by line. */
export function Raw({ text }: { text: string | undefined }): JSX.Element {
  return (
    <pre class="hex mono" dir="ltr" tabIndex={0}>
      {text}
    </pre>
  )
}

/** Shows the condition of a van, with a colour that shows whether something is wrong. */
export function ConditionDot({ van, text = true }: { van: DeviceRowJson | DeviceJson; text?: boolean }): JSX.Element {
  const condition = conditionOf(van)
  return (
    <span class="condition" title={van.problem?.message ?? words.conditionMeans[condition]}>
      <span class={`dot c-${toneOf(van)}`} />
      {text && words.condition[condition]}
    </span>
  )
}

/** Foreign text, isolated so that its direction does not change the text around it. */
export function Foreign({ text, mono = false, title }: { text: string; mono?: boolean; title?: string }): JSX.Element {
  return (
    <bdi class={mono ? 'foreign mono' : 'foreign'} title={title ?? (text.length > 40 ? text : undefined)}>
      {text}
    </bdi>
  )
}

/** Details for operators, folded. */
export function ForIt({ children }: { children: ComponentChildren }): JSX.Element {
  return (
    <div class="operator">
      <details>
        <summary>{words.operator.details}</summary>
        {children}
      </details>
    </div>
  )
}

export function CopyButton({ text, label = words.copy }: { text: string; label?: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    const timer = isCopied ? setTimeout(() => setCopied(false), 1500) : undefined
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    )
  return (
    <button type="button" class="button quiet small" onClick={copy}>
      <Icon name={isCopied ? 'ok' : 'copy'} size={14} />
      {isCopied ? words.copied : label}
    </button>
  )
}

/** What went wrong, for people. */
/** A command to be copied into a terminal. */
export function Command({ text }: { text: string }): JSX.Element {
  return (
    <>
      <code class="mono command">
        {text.split(' ').map((word) => (
          <>
            <span class="command-word">{word}</span>{' '}
          </>
        ))}
      </code>
      <CopyButton text={text} />
    </>
  )
}

export function messageOf(error: unknown): string {
  if (!(error instanceof RequestError)) return error instanceof Error ? error.message : String(error)
  if (error.status === 0) return words.noAnswer
  return error.status === 403 ? words.mayNot : error.message
}

/** Why a dialog has not done what it should; nothing without an error. */
export function Failure({ error }: { error: unknown }): JSX.Element | null {
  if (error === undefined) return null
  return (
    <p class="failure" role="alert">
      {messageOf(error)}
    </p>
  )
}

/** Says what has failed; with `again` a button to try it again, if the same request may succeed later. */
export function FailureNote({ error, again }: { error: unknown; again?: () => void }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <span>{words.failed(messageOf(error))}</span>
      {again && mayHelp(error) && (
        <button type="button" class="button small" onClick={again}>
          {words.retry}
        </button>
      )}
    </div>
  )
}

/** A refusal of the request itself would be repeated. */
function mayHelp(error: unknown): boolean {
  return !(error instanceof RequestError && FINAL.has(error.status))
}

const FINAL = new Set([400, 403, 404, 413, 415, 422])

/** Grey lines in place of content that is not loaded yet. */
export function Loading({ lines = 3 }: { lines?: number }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="sr-only">{words.loading}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="bone" />
      ))}
    </div>
  )
}
