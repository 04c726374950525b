/// How a shell's completion script passes words to the program and reads the offered words.
struct CompletionDialect: Sendable {
    private let shell: CompletionShell?
    private let isQuoted: Bool

    init(_ shell: CompletionShell?, version: String?) {
        self.shell = shell
        // Up to version 3, fish's script removes quotes and backslashes.
        let major = (version?.prefix { $0.isNumber }).flatMap { Int($0) } ?? 0
        isQuoted = shell == .bash || shell == .zsh || (shell == .fish && major > 3)
    }

    /// Removes the shell's quoting and expands a leading ~.
    func read(_ word: String) -> String {
        guard isQuoted, let plain = ShellWord.words(in: word).words.last else { return word }
        guard word.hasPrefix("~/"), let home = SystemText.environment("HOME") else { return plain }
        return home + plain.dropFirst()
    }

    func write(_ word: String) -> String {
        switch shell {
        // The script expands each word: $(…) in a key would be run.
        case .some(.bash): ShellWord.literal(word)
        // A colon separates the word from its description.
        case .some(.zsh): word.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        default: word
        }
    }

    /// Adds `wholeWords` to the argument parser's bash script; returns other scripts unchanged.
    static func completing(_ script: String) -> String {
        let end = "complete -o filenames -F _vellum vellum"
        guard script.hasSuffix(end) else { return script }
        return script.dropLast(end.count) + wholeWords
    }

    private static let wholeWords = #"""
        # Bash splits words at characters of keys and properties, such as the colon. This joins them again, and removes the part
        # before the last such character from the choices, because bash leaves it on the line.
        _vellum_whole_words() {
            local -a words=()
            local -i index last=0 current=0
            local line="${COMP_LINE}" cur="${2}" signs='' blank word
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[${index}]}"
                blank="${line%%[![:blank:]]*}"
                line="${line#"${blank}"}"
                line="${line#"${word}"}"
                if [[ "${index}" -eq 0 || -n "${blank}" ]]; then
                    last="${#words[@]}"
                    words[${last}]=''
                fi
                if [[ "${index}" -eq "${COMP_CWORD}" ]]; then
                    current="${last}"
                    signs="${words[${last}]}"
                    # After such a character, bash completes an empty word.
                    [[ -z "${2}" && -z "${word//[:=@]/}" ]] && signs+="${word}"
                    # The character @ also belongs to the next word.
                    [[ "${2}" = @* ]] && signs="${signs%@}"
                    cur="${signs}${2}"
                    signs="${signs//[!:=@]/}"
                fi
                words[${last}]+="${word}"
            done

            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD="${current}"
            _vellum "${1}" "${cur}" "${words[$((current - 1))]}"
            while [[ -n "${signs}" ]]; do
                COMPREPLY=("${COMPREPLY[@]#*[:=@]}")
                signs="${signs:1}"
            done
        }

        complete -o filenames -F _vellum_whole_words vellum
        """#
}
