/// What is held of an exchange while captures are aligned: about 150 bytes.
///
/// Texts are there as hashes, which are seeded for each run, so that nobody can make two of them
/// alike.
package struct ExchangeSignature: Sendable, Equatable {
    /// Its number in the capture.
    package var id: Int64
    /// The method, the authority and the path template.
    package var group = 0
    /// The same without the authority, which differs between a test and its stage.
    package var place = 0
    /// The path and the query.
    package var target = 0
    /// The names in the query, in any order.
    package var queryNames = 0
    package var authority = 0
    package var status: Int32 = 0
    package var requestHead = 0
    package var responseHead = 0
    package var requestTrailers = 0
    package var responseTrailers = 0
    package var requestBody = 0
    package var responseBody = 0
    package var requestType = 0
    package var responseType = 0
    package var responseSize: Int64 = 0
    /// How it ended: its error, and who answered.
    package var outcome = 0
    /// -1 while it goes on.
    package var durationMicroseconds: Int64 = -1

    package init(id: Int64) {
        self.id = id
    }

    /// Whether nothing that is compared differs.
    func isEqual(to other: ExchangeSignature) -> Bool {
        group == other.group && target == other.target && status == other.status
            && requestHead == other.requestHead && responseHead == other.responseHead
            && requestTrailers == other.requestTrailers
            && responseTrailers == other.responseTrailers && requestBody == other.requestBody
            && responseBody == other.responseBody && outcome == other.outcome
    }

    /// How alike two exchanges of one place are, where their targets differ.
    func likeness(to other: ExchangeSignature) -> Int {
        var likeness = 0
        if target == other.target { likeness += 8 }
        if queryNames == other.queryNames { likeness += 3 }
        if requestBody == other.requestBody { likeness += 3 }
        if requestType == other.requestType { likeness += 1 }
        if status == other.status { likeness += 3 }
        if responseBody == other.responseBody { likeness += 2 }
        if responseType == other.responseType { likeness += 1 }
        return likeness
    }
}
