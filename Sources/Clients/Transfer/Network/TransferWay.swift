internal import Base
internal import HTTPClient
internal import Origins

/// Where the requests of a task go, with redirects followed and a login said on the way: for
/// downloads and uploads alike.
///
/// `@unchecked Sendable`: used on the service's loop.
final class TransferWay: @unchecked Sendable {
    private let transfer: RunningTransfer
    /// The origin that the task's own fields and credential are for.
    private let own: OriginLocation
    private(set) var location: OriginLocation
    private var hops = 0
    /// What the task's own origin wants to hear.
    private var authorization: String?

    /// Errors: `url-invalid`.
    init(_ transfer: RunningTransfer) throws(Failure) {
        self.transfer = transfer
        own = try OriginLocation(transfer.task.url)
        location = own
    }

    /// A request to where the way has led, or to another place that it has led to before. The task's
    /// own fields and its login go to its own origin alone.
    func request(
        _ fields: [TransferField], to reception: any ClientReception,
        at other: OriginLocation? = nil, stop: ClientStop
    ) -> NetworkRequest {
        let location = other ?? location
        var request = NetworkRequest(location, to: reception, stop: stop)
        request.fields = fields
        if location.isSameOrigin(as: own) {
            request.fields += transfer.task.options.fields
            if let authorization {
                request.fields.append(TransferField("Authorization", authorization))
            }
        }
        request.authorities = transfer.task.options.authorities
        request.pins = transfer.task.options.pins
        return request
    }

    func send(_ request: NetworkRequest) async -> Result<NetworkAnswer, Failure> {
        transfer.noteRequest()
        do throws(Failure) {
            return .success(try await transfer.network.send(request))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Redirects

    /// Begins anew, at a URL that the task's origin has told.
    ///
    /// Errors: `url-invalid`, `redirect-downgrade`, `redirect-into-local-network`.
    func begin(at url: String) throws(Failure) {
        hops = 0
        let next = try OriginLocation(url)
        try check(next, from: own)
        location = next
    }

    /// Follows a redirect.
    ///
    /// Errors: `url-invalid`, `redirect-loop`, `redirect-downgrade`, `redirect-into-local-network`.
    func follow(_ reference: String) throws(Failure) {
        hops += 1
        guard hops <= transfer.limits.hopLimit else {
            throw Failure(
                "redirect-loop", party: .origin,
                "\(transfer.task.url) is redirected more than \(transfer.limits.hopLimit) times")
        }
        location = try resolved(reference)
    }

    /// Where a Location leads from here.
    ///
    /// Errors: `url-invalid`, `redirect-downgrade`, `redirect-into-local-network`.
    func resolved(_ reference: String) throws(Failure) -> OriginLocation {
        let next = try location.following(reference)
        try check(next, from: location)
        return next
    }

    private func check(
        _ next: OriginLocation, from location: OriginLocation
    ) throws(Failure) {
        guard next.target.isSecure || !location.target.isSecure else {
            throw Failure(
                "redirect-downgrade", party: .origin,
                "\(location.target.origin) redirects from https to \(next.target.origin)")
        }
        // A user is asked for servers on their network, and was not for what a stranger names, nor that a
        // file goes there, or what an upload has made is removed there.
        guard
            transfer.task.kind == .download && !transfer.task.options.isFromStranger
                || LocalNetwork.mayLead(from: location.target.host, to: next.target.host)
        else {
            throw Failure(
                "redirect-into-local-network", party: .origin,
                "\(location.target.origin) leads into the local network, to \(next.target.origin)",
                hint: "name that place itself if it may go there")
        }
    }

    /// Takes down where a redirect has led.
    func noteHop() throws(DiskFailure) {
        let hops = transfer.journal.state.hops
        guard !hops.contains(location.url), hops.count < transfer.limits.hopLimit else { return }
        try transfer.journal.append(.hop(location.url))
        transfer.task.hops = transfer.journal.state.hops
    }

    // MARK: Logins

    /// Finds what to say to an origin that wants a login: to the task's own origin alone.
    ///
    /// - Returns: whether there is anything that it has not refused.
    func logIn(_ schemes: [String]) async -> Bool {
        transfer.loginFlaw = nil
        guard location.isSameOrigin(as: own) else {
            return note(
                "and the login that is named goes to \(own.target.origin) alone",
                hint: Self.elsewhere(location.target.origin))
        }
        guard let reference = transfer.task.options.credential, let source = transfer.credentials
        else { return false }
        // Else anybody on the way could read it.
        guard location.target.isSecure || transfer.network.staysHere(location) else {
            return note(
                "and what is sent to it can be read on the way: the login goes by https alone",
                hint: "cancel it, and name a URL by https")
        }
        let value = await source.authorization(
            for: reference, at: location, schemes: schemes, refused: authorization)
        guard let value, value != authorization else {
            return authorization == nil
                ? note(
                    "and \(reference) has none: its first line has to be user:password, and the file"
                        + " readable by you alone")
                : note("and does not take the one that it got")
        }
        authorization = value
        return true
    }

    /// What to do where a redirect leads to an origin that wants a login.
    static func elsewhere(_ origin: String) -> String {
        "cancel it, and name a URL of \(origin) with its login"
    }

    /// Says why no login is sent.
    private func note(_ flaw: String, hint: String? = nil) -> Bool {
        transfer.loginFlaw = LoginFlaw(flaw, hint: hint)
        return false
    }
}

/// Why a login was not sent, or helped nothing. A class, as few of many tasks have one.
final class LoginFlaw: Sendable {
    let text: String
    /// What to do; `nil` for naming another login.
    let hint: String?

    fileprivate init(_ text: String, hint: String?) {
        self.text = text
        self.hint = hint
    }
}
