package import Origins

/// Knows the credentials that tasks refer to; they are in no journal and in no event.
package protocol CredentialSource: AnyObject, Sendable {
    /// What Authorization says to an origin that has asked for a login; `nil` if none is known, or
    /// none that has not been refused.
    ///
    /// It is asked only where the way is TLS, or does not leave this machine.
    ///
    /// - Parameters:
    ///   - reference: what the task calls the credential.
    ///   - schemes: in lower case, as the origin has them.
    ///   - refused: what it has refused just now.
    func authorization(
        for reference: String, at location: OriginLocation, schemes: [String], refused: String?
    ) async -> String?
}
