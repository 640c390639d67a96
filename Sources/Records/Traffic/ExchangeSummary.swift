/// What a list shows of an exchange, cut from its heads so that these need not be read.
package struct ExchangeSummary: Sendable {
    /// Without contents; from a store, only what a list shows is sure to be set.
    package var record: ExchangeRecord
    package var head: HeadSummary

    package init(record: ExchangeRecord, head: HeadSummary) {
        self.record = record
        self.head = head
    }
}

/// What is cut from the heads of an exchange.
package struct HeadSummary: Sendable {
    /// As it stands in the request line.
    package var method: ArraySlice<UInt8> = []
    /// The same, spaces inside of it included.
    package var target: ArraySlice<UInt8> = []
    /// Of the response; empty if there is none. Text, whatever came.
    package var contentType: ArraySlice<UInt8> = []
    /// How a call of gRPC ended, 0 for success; `nil` for everything else.
    package var grpcStatus: Int?

    package init() {}
}
