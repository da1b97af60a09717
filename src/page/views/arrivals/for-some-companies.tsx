import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Empty } from '../../parts/basics.tsx'
import { Field } from '../../parts/dialog.tsx'
import { go, href } from '../../router.ts'
import { ChangeButton } from '../../parts/change-button.tsx'
import { words } from '../../words/index.ts'
import { EntryDialog } from '../van/entry-dialog.tsx'

/** Arrivals for a token with companies. Senders belong to no company before they are named, so a van is added by its id. */
export function ForSomeCompanies(): JSX.Element {
  const [typed, setTyped] = useState('')
  const [isNaming, setNaming] = useState(false)
  const id = typed.trim()
  const close = (isChanged: boolean) => {
    setNaming(false)
    if (isChanged) go(href('vans', { id }))
  }
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.nav.arrivals}</h1>
        <a class="button" href={href('point')}>
          {words.point.title}
        </a>
      </header>
      <section class="panel">
        <Empty icon="arrivals" title={words.arrivals.forAll} text={words.arrivals.forAllText}>
          <form class="stack" onSubmit={(event) => (event.preventDefault(), setNaming(id !== ''))}>
            <Field label={words.arrivals.id} value={typed} change={setTyped} required />
            <ChangeButton type="submit" class="button primary">
              {words.act.openArrivals}
            </ChangeButton>
          </form>
        </Empty>
      </section>
      {isNaming && <EntryDialog detail={{ id, configured: false }} close={close} />}
    </div>
  )
}
