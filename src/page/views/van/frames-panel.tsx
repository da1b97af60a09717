import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api, unlessMissing } from '../../data/api.ts'
import { useAsked } from '../../data/hooks.ts'
import type { WatchedFrame } from '../../data/types.ts'
import { time, timeOfDay } from '../../format.ts'
import { CopyButton, Empty, Foreign, messageOf, Panel } from '../../parts/basics.tsx'
import { Hex } from '../../parts/hex.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words/index.ts'

/** The last frames of a van: their bytes, and what was read of them. They are kept only while somebody watches. */
export function FramesPanel({ id }: { id: string }): JSX.Element | null {
  const { answer, again } = useAsked(
    `frames ${id}`,
    () => unlessMissing(api.frames(id)).then((found) => found ?? null),
    FRAMES_MS,
  )
  const [isBusy, setBusy] = useState(false)
  if (answer === null || answer === undefined) return null
  const until = answer.watched_until_at
  const isWatched = until !== undefined && Date.parse(until) > Date.now()
  const watch = async () => {
    setBusy(true)
    await api.watch(id).catch((error: unknown) => say(messageOf(error), 'failed'))
    setBusy(false)
    again()
  }
  const button = (
    <button
      type="button"
      class={`button ${isWatched ? 'small quiet' : 'primary'}`}
      disabled={isBusy}
      onClick={() => void watch()}
    >
      {isWatched ? words.van.watchOn : words.van.watch}
    </button>
  )
  return (
    <Panel
      title={words.van.frames}
      hint={isWatched ? words.van.watched(time(until)) : words.van.notWatched}
      aside={isWatched && button}
    >
      {answer.results.length === 0 ? (
        <Empty
          icon="info"
          title={isWatched ? words.van.waitsForFrame : words.van.noFrames}
          text={words.van.noFramesText}
        >
          {!isWatched && button}
        </Empty>
      ) : (
        <ol class="frames">
          {answer.results.map((frame) => (
            <Frame key={`${frame.at} ${frame.bytes}`} frame={frame} />
          ))}
        </ol>
      )}
    </Panel>
  )
}

function Frame({ frame }: { frame: WatchedFrame }): JSX.Element {
  const { at, transport, port, remote, protocol, bytes, text, fixes, reply, error } = frame
  return (
    <li class="frame">
      <p class="frame-head">
        <time class="num" dateTime={at}>
          {timeOfDay(at)}
        </time>
        <span>{protocol}</span>
        <span class="muted num">
          {transport}/{port} · {remote}
        </span>
        <CopyButton text={bytes} />
      </p>
      <div class="frame-body">
        {text === undefined ? (
          <Hex bytes={bytes} />
        ) : (
          <pre class="mono frame-text" dir="ltr">
            {text}
          </pre>
        )}
        <div class="frame-meaning">
          {error && <p class="tone-error">{error}</p>}
          {fixes.map((fix, index) => (
            <dl key={index} class="fix">
              {Object.entries(fix).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd class="num">
                    <Foreign text={String(value)} />
                  </dd>
                </div>
              ))}
            </dl>
          ))}
          {fixes.length === 0 && !error && <p class="muted">{words.van.noFix}</p>}
          {reply && (
            <p class="muted">
              {words.van.reply} <span class="mono">{reply}</span>
            </p>
          )}
        </div>
      </div>
    </li>
  )
}

const FRAMES_MS = 3000
