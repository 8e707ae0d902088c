import EideticCore
import EideticStore

extension ImageDataLoader {
    /// What the disk has of a picture.
    enum Stored {
        /// Nothing, and why.
        case nothing(String)
        /// It may be used.
        case usable(EncodedImage)
        /// The server must be asked first.
        case stale(DiskCache.Entry)
    }

    /// What may be used of what is held or on disk, read by the calling thread.
    func storedAtOnce(_ request: ImageRequest) -> EncodedImage? {
        guard request.resource.isStoredOnDisk, let disk else { return nil }
        if let original = held(request) { return original }
        let timer = StepTimer()
        guard let entry = try? disk.read(request.resourceKey),
            case .usable(let original) = usable(entry, timer), !original.needsRevalidation
        else { return nil }
        return original
    }

    /// Looks on disk; an unreadable disk has nothing, and that is said in the log.
    func stored(_ request: ImageRequest, _ context: JobContext) async -> Stored {
        guard let disk else { return .nothing("there is no disk cache") }
        let timer = StepTimer()
        do throws(EideticError) {
            switch try await disk.findValue(for: request.resourceKey, context) {
            case .entry(let entry): return usable(entry, timer)
            case .absent: return .nothing("miss")
            case .expired: return .nothing("miss: expired")
            case .damaged(let reason): return .nothing("miss: damaged, \(reason)")
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(request.name): not read from disk: \(error)")
            return .nothing("miss: \(error)")
        }
    }

    /// What may be done with an entry, as its freshness says.
    private func usable(_ entry: DiskCache.Entry, _ timer: StepTimer) -> Stored {
        let note = "hit, \(ByteCount(entry.bytes.count))"
        guard let freshness = freshness(of: entry.metadata) else {
            return .usable(EncodedImage(bytes: entry.bytes, source: .disk, steps: [timer.step(.disk, detail: note)]))
        }
        let now = SystemTime().now, use = freshness.reuse(at: now)
        guard use != .afterValidation else { return .stale(entry) }
        return .usable(
            EncodedImage(
                bytes: entry.bytes,
                source: .disk,
                steps: [
                    timer.step(.disk, detail: use == .fresh ? "\(note), fresh" : "\(note), stale while revalidated")
                ],
                freshFor: freshFor(entry.metadata),
                needsRevalidation: use == .staleWhileRevalidating
            )
        )
    }

    /// Whether an entry that could not be validated may be used all the same.
    func mayServe(_ entry: DiskCache.Entry, after error: EideticError) -> Bool {
        guard error.code != .cancelled, let freshness = freshness(of: entry.metadata) else { return false }
        return freshness.allowsStaleAfterError(at: SystemTime().now, status: error.httpStatus)
    }

    /// How long a picture of a response with these fields, which came now, is fresh; `nil` where its server is not asked.
    func freshFor(_ fields: [HTTPField], _ request: ImageRequest) -> Duration? {
        var metadata = DiskCache.Metadata(headers: fields)
        metadata.storageTime = SystemTime().now
        guard let life = freshFor(metadata) else { return nil }
        return Self.isStorable(fields, request) ? life : .zero
    }

    /// How long an entry is still fresh; `nil` where its server is not asked.
    func freshFor(_ metadata: DiskCache.Metadata) -> Duration? {
        guard let freshness = freshness(of: metadata) else { return nil }
        return freshness.control.noCache
            ? .zero : max(.zero, freshness.freshnessLifetime - freshness.currentAge(at: SystemTime().now))
    }

    /// Whether a response with these fields may be kept.
    ///
    /// All that a request says of itself is part of its identity, so that `Vary` asks for nothing more; but what the jar of
    /// cookies holds is not, and may be another user's the next time.
    static func isStorable(_ fields: [HTTPField], _ request: ImageRequest) -> Bool {
        if request.usesCookies, case .fields(let names) = Vary(fields), names.contains("cookie") { return false }
        return Storability.isStorable(status: 200, fields: fields)
    }

    /// The entry begins its time anew, with what the server said now.
    func keepOn(_ entry: DiskCache.Entry, _ fields: [HTTPField], _ request: ImageRequest) async {
        var metadata = entry.metadata
        metadata.headers = NotModified.merge(fields, into: entry.metadata.headers)
        (metadata.storageTime, metadata.expirationTime) = (Timestamp(nanoseconds: 0), nil)
        do throws(EideticError) {
            // The bytes stay as they are.
            try await disk?.refreshValue(entry, with: metadata)
        } catch {
            Log.write(.warning, category: .store, message: "\(request.name): not kept on: \(error)")
        }
    }

    func freshness(of metadata: DiskCache.Metadata) -> ResponseFreshness? {
        guard case .http(let heuristic) = policy else { return nil }
        let response = ResponseFreshness.Response(
            fields: metadata.headers,
            requestTime: metadata.storageTime,
            responseTime: metadata.storageTime
        )
        return ResponseFreshness(response, heuristic: heuristic)
    }
}
