/// What a conversion to or from HAR may lose.
extension LossKind {
    static let secretsMasked = LossKind(
        "secrets-masked", "secrets are shown as ***; --with-secrets keeps them")
    static let contentWithheld = LossKind(
        "content-withheld",
        "a content is withheld, since nothing is known of its secrets; --with-secrets keeps it")
    static let keysLeftOut = LossKind(
        "keys-left-out", "keys of TLS sessions are left out; --with-secrets keeps them")
    static let contentLeftPacked = LossKind(
        "content-left-packed",
        "a content stays in its Content-Encoding, as it unpacks to far more than was recorded")
    static let messageCut = LossKind("message-cut", "a message is cut, as it is very long")

    static let codingUndone = LossKind(
        "coding-undone",
        "a content came decoded, so its Content-Encoding is not in the recorded head")
    static let contentMissing = LossKind("content-missing", "a content is not in the file")
    static let contentTooLong = LossKind(
        "content-too-long",
        "a content is left out, as its text is over 256 MiB; pcapng and a dump of mitmproxy hold more"
    )
    static let contentDiffers = LossKind(
        "content-differs",
        "a content is not as long as the file tells: it was cut, or its bytes were changed")
    static let cachedContentLeftOut = LossKind(
        "cached-content-left-out",
        "a content is left out that the response had not: a client took it from its cache")
    static let cacheAnswered = LossKind(
        "cache-answered",
        "a response did not come from the network: a client took it from its cache")
    static let contentRebuilt = LossKind(
        "content-rebuilt", "a request's content was rebuilt from its parameters")
    static let headRebuilt = LossKind(
        "head-rebuilt", "a head was rebuilt from its fields; the spelling of its lines is lost")
    static let itemUnreadable = LossKind(
        "item-unreadable", "an item lacks what it must have, and was left out")
    static let messageUnreadable = LossKind(
        "message-unreadable", "a message is of no known kind, and was left out")
    static let pagesLeftOut = LossKind("pages-left-out", "pages are not kept")
    static let cacheLeftOut = LossKind("cache-left-out", "the state of a cache is not kept")
    static let commentsLeftOut = LossKind("comments-left-out", "comments are not kept")
    static let timingsMerged = LossKind(
        "timings-merged", "of the timings, only those to the first and the last byte are kept")
    static let timeUnreadable = LossKind(
        "time-unreadable", "a time is not readable; that of the entry before it was taken")
    static let encodingUnreadable = LossKind(
        "encoding-unreadable", "a content is not in the encoding that it names; it is kept as text")
}
