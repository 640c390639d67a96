package import TLS

/// How origins are reached and for how long they may take.
package struct ClientConfiguration: Sendable {
    /// Trusted besides the system's.
    package var authorities: [Certificate] = []
    package var versions = TLSVersions.modern
    /// In milliseconds: what a person would wait for a connection.
    package var connectTimeout: UInt64 = 10_000
    /// In milliseconds without a byte of the response: long polls end within a minute.
    package var readTimeout: UInt64 = 60_000
    /// In milliseconds without a byte of the request taken.
    package var writeTimeout: UInt64 = 60_000
    /// How many connections wait for the next request; more are closed.
    package var idleLimit = 64
    /// In bytes: what is kept in memory of an answer, for who looks for values in it.
    package var keptContentLimit = 1 << 20

    package init() {}
}
