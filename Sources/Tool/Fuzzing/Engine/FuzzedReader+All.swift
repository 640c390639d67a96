extension FuzzedReader {
    /// Every reader, in the order in which they are listed.
    package static let all: [FuzzedReader] =
        http1 + http2 + messages + openings + dialogues + texts + structured + recordings + files
        + findings + refreshes
}
