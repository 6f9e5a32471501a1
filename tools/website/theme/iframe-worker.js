// Browsers start no worker for a page opened as a file. There this class runs the worker's script
// in a hidden frame: messages go to and from the frame as they would to and from a thread.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      const page = this.inside.document
      page.open()
      page.write("<!doctype html><title>worker</title>")
      page.close()
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = page.createElement("script")
      script.src = String(url)
      script.onload = () => {
        const waiting = this.waiting
        this.waiting = null
        waiting.forEach(data => this.postMessage(data))
      }
      script.onerror = () => this.dispatchEvent(new ErrorEvent("error", { message: "no script " + url }))
      page.head.appendChild(script)
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.inside.dispatchEvent(new MessageEvent("message", { data }))
    }
    terminate() { this.inside.frameElement.remove() }
  }
  window.Worker = window.IFrameWorker
}
