import { useState } from 'preact/hooks'
import { messageOf } from './basics.tsx'
import { toast } from './toast.tsx'

/** Runs work of a button, which is disabled meanwhile. `failure`: why the last work failed. */
export function useWork() {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setFailure(undefined)
    await work().catch(setFailure)
    setBusy(false)
  }
  return { isBusy, failure, run }
}

/** The same, with a toast that shows the text to which the work resolves, or why it failed. */
export function useToastedWork() {
  const { isBusy, run } = useWork()
  return { isBusy, run: (work: () => Promise<string | undefined>) => run(() => toasted(work())) }
}

async function toasted(work: Promise<string | undefined>): Promise<void> {
  try {
    const text = await work
    if (text !== undefined) toast(text)
  } catch (error) {
    toast(messageOf(error), 'failed')
  }
}
