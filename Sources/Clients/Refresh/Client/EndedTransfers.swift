/// Transfers of an app that have ended and of which it has not heard.
package protocol EndedTransfers: AnyObject {
    /// Lets the app hear of them, each once: returns when that is written down.
    func settle() async
}
