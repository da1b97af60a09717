import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from './data/api.ts'
import { onRefusal } from './data/client.ts'
import { useClock } from './data/clock.ts'
import { feed, fleet } from './data/hooks.ts'
import { forgetToken, keepToken, token } from './data/session.ts'
import { toast, Toasts } from './parts/toast.tsx'
import { type PageAddress, usePlace } from './router.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import { Activity } from './views/activity/activity.tsx'
import { Arrivals } from './views/arrivals/arrivals.tsx'
import { Day } from './views/day/day.tsx'
import { FindingView } from './views/finding/finding-view.tsx'
import { Now } from './views/now/now.tsx'
import { Point } from './views/point/point.tsx'
import { Queues } from './views/queues/queues.tsx'
import { Roster } from './views/roster/roster.tsx'
import { Trial } from './views/trial/trial.tsx'
import { VanView } from './views/van/van.tsx'
import { Vans } from './views/vans/vans.tsx'
import { words } from './words/index.ts'

/** The page: asks for a token or a person, then shows the view of the address. */
export function App(): JSX.Element {
  const place = usePlace()
  useClock()
  const [isOpen, setOpen] = useState(token() !== undefined)
  const opened = useRef(isOpen)
  opened.current = isOpen
  const [refusal, setRefusal] = useState<string>()
  useEffect(
    () =>
      onRefusal((message) => {
        // Of several requests, the first one tells why.
        if (!opened.current) return
        opened.current = false
        setRefusal(message === undefined ? words.signIn.ended : `${words.token.refused} ${message}`)
        setOpen(false)
      }),
    [],
  )
  // An address with another token, pasted into this tab.
  useEffect(() => {
    if (!isOpen && token() !== undefined) setOpen(true)
  }, [place])
  useEffect(() => {
    if (!isOpen) return undefined
    feed.start()
    return () => {
      feed.stop()
      fleet.clear()
    }
  }, [isOpen, token()])

  const open = (text?: string) => {
    if (text !== undefined) keepToken(text)
    setRefusal(undefined)
    setOpen(true)
  }
  const signOut = () => {
    const isPerson = token() === undefined
    forgetToken()
    if (!isPerson) return setOpen(false)
    api.signOut().then(
      ({ url = '/' }) => location.assign(url),
      (error: Error) => toast(words.signIn.notOut(error.message || words.noAnswer), 'failed'),
    )
  }
  if (!isOpen) return <SignIn refusal={refusal} open={open} />
  return (
    <>
      <Shell key={token()} place={place} signOut={signOut}>
        <View key={`${place.view} ${place.id ?? ''}`} place={place} />
      </Shell>
      <Toasts />
    </>
  )
}

function View({ place }: { place: PageAddress }): JSX.Element {
  switch (place.view) {
    case 'vans':
      return place.id === undefined ? <Vans place={place} /> : <VanView id={place.id} query={place.query} />
    case 'arrivals':
      return <Arrivals />
    case 'point':
      return <Point place={place} />
    case 'trial':
      return <Trial />
    case 'queues':
      return <Queues place={place} />
    case 'day':
      return <Day place={place} />
    case 'roster':
      return <Roster place={place} />
    case 'activity':
      return <Activity place={place} />
    case 'findings':
      return <FindingView code={place.id ?? ''} />
    default:
      return <Now place={place} />
  }
}
