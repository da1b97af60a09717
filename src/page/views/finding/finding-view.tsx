import type { JSX } from 'preact'
import { readAsset } from '../../data/assets.ts'
import { useAsked, useLive } from '../../data/hooks.ts'
import { Empty, FailureNote, Loading, Panel } from '../../parts/basics.tsx'
import { FindingList } from '../../parts/finding.tsx'
import { href } from '../../router.ts'
import { language, words } from '../../words/index.ts'

/** The meaning of one kind of finding, and where it holds now; alerts link here. */
export function FindingView({ code }: { code: string }): JSX.Element {
  const { answer, error, again } = useAsked('paragraphs', paragraphs)
  const { status } = useLive()
  if (!answer) return error ? <FailureNote error={error} again={again} /> : <Loading lines={4} />
  const text = Object.hasOwn(answer, code) ? answer[code] : undefined
  if (text === undefined)
    return (
      <section class="panel">
        <Empty icon="info" title={words.finding.missing} text={words.finding.missingText}>
          <a class="button" href={href('now')}>
            {words.nav.now}
          </a>
        </Empty>
      </section>
    )
  const present = (status?.findings ?? []).filter((finding) => finding.code === code)
  return (
    <div class="stack">
      <header class="view-head">
        <h1 class="mono">{code}</h1>
      </header>
      <Panel title={words.finding.means}>
        <p class="paragraph">
          <Paragraph text={text} />
        </p>
      </Panel>
      <Panel title={words.finding.now}>
        {present.length > 0 ? <FindingList findings={present} /> : <p class="paragraph">{words.finding.nowhere}</p>}
      </Panel>
    </div>
  )
}

/** Resolves to the meaning of each finding, in the language of the page. */
async function paragraphs(): Promise<Readonly<Record<string, string>>> {
  if (language === 'de') return (await import('../../words/de-findings.ts')).PARAGRAPHS
  return readAsset<Record<string, string>>('findings.json')
}

/** Text with `code` and *emphasis*. */
function Paragraph({ text }: { text: string }): JSX.Element {
  const parts = text.split(/(`[^`]+`|\*[^*]+\*)/)
  return (
    <>
      {parts.map((part, index) => {
        const inner = part.slice(1, -1)
        if (index % 2 === 0) return part
        return part.startsWith('`') ? <code key={index}>{inner}</code> : <em key={index}>{inner}</em>
      })}
    </>
  )
}
