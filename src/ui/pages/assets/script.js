// Everything works without this script; it keeps pages new and shows local times.

const main = document.querySelector('main')

/** Times are written in UTC; the tooltip has the reader's own. */
function localTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    time.title = new Date(time.dateTime).toLocaleString(undefined, { timeZoneName: 'short' })
  }
}

/** Nothing is replaced under the hands of somebody who fills in a form, reads with the keyboard or marks a text. */
function isBusy() {
  const { activeElement } = document
  const isInside = activeElement !== main && main.contains(activeElement)
  const fields = [...main.querySelectorAll('input, textarea')]
  const isEdited = fields.some(
    (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked,
  )
  const isChosen = [...main.querySelectorAll('select')].some(({ options, selectedIndex }) => {
    const before = [...options].findIndex((option) => option.defaultSelected)
    return selectedIndex !== Math.max(before, 0)
  })
  const isOpened = main.querySelector('details[open]') !== null
  return isInside || isEdited || isChosen || isOpened || String(getSelection()) !== ''
}

/** Nobody takes an old page for a new one. */
function tellStale(why) {
  const old = document.getElementById('stale')
  if (old?.dataset.why === why) return
  old?.remove()
  if (why === undefined) return
  const note = Object.assign(document.createElement('p'), { id: 'stale', className: 'box bad' })
  note.dataset.why = why
  note.setAttribute('role', 'alert')
  main.prepend(note)
  note.textContent = `${why} This page shows what was so before ${new Date().toLocaleTimeString()}.`
}

/** What went wrong, in a sentence; nothing where the page is new. */
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  if (response.redirected) return 'You are not signed in any more.'
  if (!response.ok) return 'dirsyncd could not answer.'
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.querySelector('main')
  if (fresh === null) return
  if (isBusy()) {
    // What is typed stays; times change all the time and are not worth a word.
    if (fresh.dataset.state === main.dataset.state) return
    return 'An operator has decided meanwhile: load the page again.'
  }
  if (fresh.innerHTML === main.innerHTML) return
  main.replaceChildren(...fresh.childNodes)
  main.dataset.state = fresh.dataset.state
  localTimes(main)
}

function follow(block) {
  const events = new EventSource(block.dataset.events)
  events.addEventListener('progress', ({ data }) => {
    block.innerHTML = JSON.parse(data)
    localTimes(block)
  })
  events.addEventListener('end', () => {
    events.close()
    location.reload()
  })
}

/** A double click decides once. Whoever comes back to the page may send its form again, and searches decide nothing. */
let isSent = false
addEventListener('submit', (event) => {
  if ((event.submitter?.formMethod || event.target.method) !== 'post') return
  if (isSent) event.preventDefault()
  isSent = true
})
addEventListener('pageshow', () => {
  isSent = false
})

localTimes(document)
const seconds = Number(main?.dataset.refresh)
if (seconds > 0) {
  setInterval(() => {
    if (document.hidden) return
    void refresh()
      .catch(() => 'dirsyncd does not answer.')
      .then(tellStale)
  }, seconds * 1000)
}
const live = document.querySelector('[data-events]')
if (live !== null) follow(live)
