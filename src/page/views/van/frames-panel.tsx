import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DecodedFix, DeviceFrameJson } from '../../../admin/schemas/devices.ts'
import { api, unlessMissing } from '../../data/api.ts'
import { useAsked } from '../../data/hooks.ts'
import { coordinates, exact, fullTime, speed, time, timeOfDay } from '../../format.ts'
import { CopyButton, Empty, Panel } from '../../parts/basics.tsx'
import { Hex } from '../../parts/hex.tsx'
import { Segments } from '../../parts/segments.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { useToastedWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'

/** The last frames of a van: their bytes, and the decoded values. They are kept only while somebody watches. */
export function FramesPanel({ id }: { id: string }): JSX.Element | null {
  const { answer, again } = useAsked(
    `frames ${id}`,
    () => unlessMissing(api.frames(id)).then((found) => found ?? null),
    FRAMES_MS,
  )
  const { isBusy, run } = useToastedWork()
  const [view, setView] = useState<'text' | 'hex'>('text')
  if (answer === null || answer === undefined) return null
  const until = answer.watched_until_at
  const button = (
    <ChangeButton
      type="button"
      class={`button ${until ? 'small quiet' : 'primary small'}`}
      disabled={isBusy}
      onClick={() => void run(() => api.watch(id).then(() => undefined)).then(again)}
    >
      {until ? words.van.watchOn : words.van.watch}
    </ChangeButton>
  )
  const hasText = answer.results.some(({ text }) => text !== undefined)
  const choices = [
    { value: 'text', text: words.van.asText },
    { value: 'hex', text: words.van.asHex },
  ] as const
  return (
    <Panel
      title={words.van.frames}
      hint={until ? words.van.watched(time(until)) : words.van.notWatched}
      class="frames-panel"
      aside={
        <>
          {until && (
            <span class="watching" role="status">
              {words.van.watching}
            </span>
          )}
          {hasText && <Segments label={words.van.frames} value={view} choices={choices} choose={setView} />}
          {answer.results.length > 0 && button}
        </>
      }
    >
      {answer.results.length === 0 ? (
        <Empty
          icon={until ? 'activity' : 'info'}
          title={until ? words.van.waitsForFrame : words.van.noFrames}
          text={words.van.noFramesText}
        >
          {!until && button}
        </Empty>
      ) : (
        <ol class="frames">
          {answer.results.map((frame, index) => (
            <Frame key={`${frame.at} ${answer.results.length - index}`} frame={frame} isText={view === 'text'} />
          ))}
        </ol>
      )}
    </Panel>
  )
}

function Frame({ frame, isText }: { frame: DeviceFrameJson; isText: boolean }): JSX.Element {
  const { at, transport, port, remote, protocol, bytes, size, text, fixes, fix_count, reply, error } = frame
  const shown = bytes.length / 2
  return (
    <li class={`frame ${error ? 'is-wrong' : ''}`}>
      <p class="frame-head">
        <time class="num" dateTime={at} title={fullTime(at)}>
          {timeOfDay(at)}
        </time>
        <span class="tag">{protocol}</span>
        <span class="muted num">
          {[remote, port === undefined ? transport : `${transport}/${port}`].filter(Boolean).join(' → ')}
        </span>
        <span class="muted num">
          {shown < size ? words.van.firstBytes(exact(shown), exact(size)) : words.van.bytes(exact(size))}
        </span>
        <CopyButton text={bytes} label={words.van.copyHex} />
      </p>
      <div class="frame-body">
        {text === undefined || !isText ? (
          <Hex bytes={bytes} />
        ) : (
          <pre class="mono frame-text" dir="ltr">
            {text}
          </pre>
        )}
        <div class="frame-meaning">
          {error && <p class="tone-error">{error}</p>}
          {fixes.length > 0 && <FixTable fixes={fixes} />}
          {fix_count > fixes.length && <p class="muted">{words.van.moreFixes(exact(fix_count - fixes.length))}</p>}
          {fixes.length === 0 && !error && <p class="muted">{words.van.noFix}</p>}
          {reply && (
            <p class="frame-reply">
              <span class="muted">{words.van.reply}</span> <code class="mono">{pairs(reply)}</code>
            </p>
          )}
        </div>
      </div>
    </li>
  )
}

/** The decoded values: a line for each fix. */
function FixTable({ fixes }: { fixes: readonly DecodedFix[] }): JSX.Element {
  return (
    <table class="fix-table">
      <thead>
        <tr>
          <th scope="col">{words.van.read.time}</th>
          <th scope="col">{words.van.read.place}</th>
          <th scope="col">{words.van.read.motion}</th>
          <th scope="col">{words.van.read.quality}</th>
        </tr>
      </thead>
      <tbody>
        {fixes.map((fix, index) => (
          <tr key={index}>
            <td class="num" title={fix.time && fullTime(fix.time)}>
              {fix.time ? timeOfDay(fix.time) : '–'}
            </td>
            <td class="num">{placeOf(fix)}</td>
            <td class="num">{motionOf(fix)}</td>
            <td class={`num ${fix.valid === false ? 'tone-warning' : ''}`}>{qualityOf(fix)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function placeOf({ lat, lon }: DecodedFix): string {
  return lat === undefined || lon === undefined ? '–' : coordinates({ lat, lon })
}

function motionOf({ speed: metresPerSecond, heading }: DecodedFix): string {
  const parts = [
    metresPerSecond === undefined ? '' : speed(metresPerSecond),
    heading === undefined ? '' : `${Math.round(heading)}°`,
  ]
  return parts.filter(Boolean).join(' · ') || '–'
}

function qualityOf({ accuracy, altitude, hdop, satellites, valid }: DecodedFix): string {
  const { read } = words.van
  const parts = [
    valid === false && read.invalid,
    satellites !== undefined && read.satellites(exact(satellites)),
    accuracy !== undefined && `±${exact(accuracy)} ${words.unit.m}`,
    hdop !== undefined && `HDOP ${hdop}`,
    altitude !== undefined && read.altitude(exact(altitude)),
  ]
  return parts.filter(Boolean).join(' · ') || '–'
}

function pairs(hex: string): string {
  return hex.match(/../g)?.join(' ') ?? ''
}

const FRAMES_MS = 2000
