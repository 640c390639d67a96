#if GUIDED
    /// The counters of the code that has run.
    ///
    /// Each branch of the program has a counter, a quarter of a million, and libFuzzer looks at all
    /// that it knows after each execution, which costs small readers more than their own work. So
    /// it is told of a page of counters when the first of them has counted, and not before.
    ///
    /// The linker leads the program's two announcements here (`guided` in Package.swift).
    enum TouchedCounters {
        private static let pageSize = 1024

        nonisolated(unsafe) private static var counters: UnsafeMutablePointer<UInt8>?
        nonisolated(unsafe) private static var count = 0
        /// An address in the code and flags, for each counter.
        nonisolated(unsafe) private static var places: UnsafePointer<CounterPlace>?
        nonisolated(unsafe) private static var isKnown: [Bool] = []

        fileprivate static func announce(_ start: UnsafeMutablePointer<UInt8>, count: Int) {
            unsafe counters = unsafe start
            unsafe self.count = count
        }

        fileprivate static func announce(places start: UnsafePointer<CounterPlace>) {
            unsafe places = unsafe start
        }

        /// Tells libFuzzer of the pages that have counted since the last time.
        ///
        /// - Parameter isLate: whether more than the last execution may have counted there. Then
        ///   they begin anew, or another input would be kept for what it did not reach.
        static func tell(isLate: Bool) {
            guard let counters = unsafe counters, let places = unsafe places else { return }
            let count = unsafe count
            if unsafe isKnown.isEmpty {
                unsafe isKnown = Array(repeating: false, count: (count + pageSize - 1) / pageSize)
            }
            for page in unsafe isKnown.indices where unsafe !isKnown[page] {
                let start = page * pageSize
                let end = min(start + pageSize, count)
                let content = unsafe UnsafeMutableBufferPointer(
                    start: counters + start, count: end - start)
                guard unsafe content.contains(where: { $0 != 0 }) else { continue }
                unsafe isKnown[page] = true
                if isLate { unsafe content.update(repeating: 0) }
                unsafe knowCounters(counters + start, counters + end)
                unsafe knowPlaces(places + start, places + end)
            }
        }
    }

    private struct CounterPlace {
        let address: UInt
        let flags: UInt
    }

    // MARK: What the program announces before it starts

    @_cdecl("__wrap___sanitizer_cov_8bit_counters_init")
    func announceCounters(
        _ start: UnsafeMutablePointer<UInt8>, _ stop: UnsafeMutablePointer<UInt8>
    ) {
        unsafe TouchedCounters.announce(start, count: stop - start)
    }

    @_cdecl("__wrap___sanitizer_cov_pcs_init")
    func announcePlaces(_ start: UnsafeRawPointer, _ stop: UnsafeRawPointer) {
        unsafe TouchedCounters.announce(
            places: start.assumingMemoryBound(to: CounterPlace.self))
    }

    // MARK: libFuzzer's own

    @_silgen_name("__real___sanitizer_cov_8bit_counters_init")
    private func knowCounters(_ start: UnsafePointer<UInt8>, _ stop: UnsafePointer<UInt8>)

    @_silgen_name("__real___sanitizer_cov_pcs_init")
    private func knowPlaces(
        _ start: UnsafePointer<CounterPlace>, _ stop: UnsafePointer<CounterPlace>)
#endif
