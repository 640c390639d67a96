internal import Contents
internal import HTTPServer

/// What a server says in a dialect.
extension UploadDialect {
    /// Of an append that leaves the upload incomplete.
    var appendedStatus: Int { self == .tus || isDraft(from: 7) ? 204 : 201 }

    /// What every response of this dialect has.
    var marks: [ResponseField] { mark.map { [ResponseField($0.name, $0.value)] } ?? [] }

    func completion(_ isComplete: Bool) -> [ResponseField] {
        isResumable
            ? [ResponseField(completionName, completionValue(isComplete))] : []
    }

    /// - Parameters:
    ///   - size: of an upload at most, in bytes.
    ///   - age: how long the upload stays, in seconds; `nil` for none that there is.
    func limits(size: UInt64, age: Int64?) -> [ResponseField] {
        guard tellsLengthAndLimit else { return [] }
        let age = age.map { ", \(ageKey)=\(max(0, $0))" } ?? ""
        return [ResponseField("Upload-Limit", "max-size=\(size)\(age)")]
    }
}
