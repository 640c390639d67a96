internal import HTTPModel

/// Fields of a head whose values tell nothing of what was asked or answered.
package enum PassingFields {
    /// Made up for each message: they count for nothing in a comparison unless a rule says so.
    package static let madeUp: Set<String> = [
        "age", "cf-ray", "date", "request-id", "traceparent", "tracestate", "x-amz-request-id",
        "x-amzn-requestid", "x-amzn-trace-id", "x-b3-spanid", "x-b3-traceid",
        "x-cloud-trace-context", "x-correlation-id", "x-request-id", "x-runtime", "x-trace-id",
    ]

    /// They frame a message, or belong to a hop: to differ in them is worth a note.
    package static let framing: Set<String> = hop.union(["content-length"])

    package static let hop = KnownField.hopByHopNames.union(["host"])
}
