function __vellum_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __vellum_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __vellum_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __vellum_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __vellum_parse_tokens -S
    set -l unparsed_tokens (__vellum_tokens -pc)
    switch $unparsed_tokens[1]
    case 'vellum'
        __vellum_parse_subcommand 0 'store=' 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'browse'
            __vellum_parse_subcommand 1 'store=' 'read-only' 'theme=' 'size=' 'keys=' 'print=' 'version' 'h/help'
        case 'demo'
            __vellum_parse_subcommand 0 'store=' 'keep' 'no-browse' 'seconds=' 'rate=' 'seed=' 'theme=' 'json' 'version' 'h/help'
        case 'ls'
            __vellum_parse_subcommand 0 'store=' 'json' 'version' 'h/help'
        case 'keys'
            __vellum_parse_subcommand 1 'store=' 'order=' 'reverse' 'prefix=' 'owner=' 'limit=' 'json' 'version' 'h/help'
        case 'get'
            __vellum_parse_subcommand 2 'store=' 'json' 'raw' 'hex' 'meta' 'version' 'h/help'
        case 'put'
            __vellum_parse_subcommand 3 'store=' 'expires=' 'memory-expires=' 'owner=' 'kind=' 'disk=' 'memory=' 'version' 'h/help'
        case 'query'
            __vellum_parse_subcommand 2 'store=' 'json' 'csv' 'explain' 'memory=' 'temp=' 'version' 'h/help'
        case 'rm'
            __vellum_parse_subcommand -r 2 'store=' 'all' 'owner=' 'dry-run' 'yes' 'version' 'h/help'
        case 'expire'
            __vellum_parse_subcommand -r 2 'store=' 'all' 'owner=' 'dry-run' 'yes' 'in=' 'now' 'never' 'idle-longer-than=' 'version' 'h/help'
        case 'undo'
            __vellum_parse_subcommand 2 'store=' 'list' 'json' 'version' 'h/help'
        case 'resize'
            __vellum_parse_subcommand 1 'store=' 'disk=' 'memory=' 'version' 'h/help'
        case 'stats'
            __vellum_parse_subcommand 1 'store=' 'owners' 'watch' 'interval=' 'json' 'version' 'h/help'
        case 'watch'
            __vellum_parse_subcommand 1 'store=' 'from-start' 'seconds=' 'limit=' 'json' 'version' 'h/help'
        case 'why'
            __vellum_parse_subcommand 2 'store=' 'json' 'version' 'h/help'
        case 'import'
            __vellum_parse_subcommand 2 'store=' 'key=' 'value=' 'format=' 'text' 'strict' 'expires=' 'memory-expires=' 'owner=' 'kind=' 'disk=' 'memory=' 'version' 'h/help'
        case 'export'
            __vellum_parse_subcommand 2 'store=' 'format=' 'with-keys' 'version' 'h/help'
        case 'append'
            __vellum_parse_subcommand 2 'store=' 'whole' 'disk=' 'keep-old' 'version' 'h/help'
        case 'tail'
            __vellum_parse_subcommand 1 'store=' 'n/lines=' 'f/follow' 'json' 'raw' 'version' 'h/help'
        case 'check'
            __vellum_parse_subcommand 0 'store=' 'repair' 'dry-run' 'json' 'version' 'h/help'
        case 'backup'
            __vellum_parse_subcommand -r 2 'store=' 'version' 'h/help'
        case 'help'
            __vellum_parse_subcommand -r 1 'version'
        end
    end
end

function __vellum_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __vellum_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __vellum_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __vellum_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__vellum_tokens -p)
    if test -z "$(__vellum_tokens -t)"
        set -l index (count (__vellum_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'vellum' -f
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'browse' -d 'Opens the browser.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'demo' -d 'Makes a store of cities, runs a workload on it in a second process, and opens the browser on it.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'ls' -d 'Lists the archives with their sizes, limits and counters.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'keys' -d 'Lists the entries of an archive with their metadata.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'get' -d 'Prints the value of an entry.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'put' -d 'Records a JSON document, as CBOR.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'query' -d 'Finds, sorts and sums up entries of an archive.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'rm' -d 'Deletes entries.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'expire' -d 'Expires entries, now or later, or keeps them from expiring.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'undo' -d 'Brings back what the last rm or expire took away.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'resize' -d 'Changes the limits of an archive.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'stats' -d 'Shows counters, sizes and processes of the archives; again and again with --watch.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'watch' -d 'Follows what happens in an archive or in all of them, a line an event.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'why' -d 'Tells what became of a key.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'import' -d 'Records every object of a file: NDJSON, a JSON array, CSV or TSV.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'export' -d 'Writes the values of an archive, as NDJSON or CSV.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'append' -d 'Appends messages to a log.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'tail' -d 'Prints the last messages of a log, and follows it.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'check' -d 'Verifies every frame of a store, and its indexes against them; mends it with --repair.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'backup' -d 'Writes a whole copy of a store that is in use.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum browse" -eq 1' -F
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" read-only' -l 'read-only' -d 'Offer nothing that changes the store.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" theme' -l 'theme' -d 'The colors.' -rfka 'dark light dark-safe light-safe mono'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" size' -l 'size' -d 'Print a screen of this size instead.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" keys' -l 'keys' -d 'With --size: the keys to press.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" print' -l 'print' -d 'With --size: what to print.' -rfka 'text ansi svg'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum browse" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" keep' -l 'keep' -d 'Keep the temporary store, and say where it is.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" no-browse' -l 'no-browse' -d 'Don\'t open the browser, even on a terminal; without one it isn\'t opened anyway.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" seconds' -l 'seconds' -d 'Without the browser: how long the workload runs.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" rate' -l 'rate' -d 'Operations a second.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" seed' -l 'seed' -d 'What the workload\'s random numbers start from.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" theme' -l 'theme' -d 'The browser\'s colors.' -rfka 'dark light dark-safe light-safe mono'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" json' -l 'json' -d 'Print the closing figures as one JSON object.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum demo" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum ls" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum ls" json' -l 'json' -d 'Print one JSON array.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum ls" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum ls" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" order' -l 'order' -d 'What to sort by: most recently used first, key ascending, largest, latest created, soonest to expire or most hits first.' -rfka 'recency key size created expires hits'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" reverse' -l 'reverse' -d 'Turn the order around.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" prefix' -l 'prefix' -d 'Only the entries whose keys begin with this.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" owner' -l 'owner' -d 'Only the entries of this owner.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" limit' -l 'limit' -d 'Print at most that many entries.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" json' -l 'json' -d 'Print a JSON object a line.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum keys" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" json' -l 'json' -d 'Print JSON on one line; a text becomes a string, other bytes a string of base64url.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" raw' -l 'raw' -d 'Print the stored bytes as they are.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" hex' -l 'hex' -d 'Print the stored bytes in hexadecimal.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" meta' -l 'meta' -d 'Print the entry\'s metadata first; with --json, {"meta":…,"value":…}.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum get" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum put" -eq 1' -F
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" expires' -l 'expires' -d 'How long the entry lives: 500ms, 90s, 5m, 2h, 3d (default: until it is deleted or evicted).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" memory-expires' -l 'memory-expires' -d 'How long a process may keep it in memory after reading it from disk (default: while there is room).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" owner' -l 'owner' -d 'The group that the entry belongs to, 1 to 255 bytes.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" kind' -l 'kind' -d 'If this makes the archive: what it does when it is full (default: cache with --disk, else collection).' -rfka 'cache collection'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" disk' -l 'disk' -d 'If this makes the archive: most bytes of values on disk, such as 20MB or 64KiB (a cache\'s default: 2MB).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" memory' -l 'memory' -d 'If this makes the archive: most bytes of values in a process\' memory (default: 1MB).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum put" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" json' -l 'json' -d 'Print a JSON object a line: {"key":…,"value":…}, or the selected properties and figures.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" csv' -l 'csv' -d 'Print CSV, under the names of all properties.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" explain' -l 'explain' -d 'Print how the query was carried out instead of its rows; with --json as one object.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" memory' -l 'memory' -d 'What the query may keep in memory before it takes temporary files.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" temp' -l 'temp' -d 'What its temporary files may take, in TMPDIR or /tmp.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum query" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" all' -l 'all' -d 'All entries of the archive.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" owner' -l 'owner' -d 'The entries of this owner.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" dry-run' -l 'dry-run' -d 'Only say how many entries and bytes it would be.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" yes' -l 'yes' -d 'Don\'t ask.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum rm" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" all' -l 'all' -d 'All entries of the archive.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" owner' -l 'owner' -d 'The entries of this owner.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" dry-run' -l 'dry-run' -d 'Only say how many entries and bytes it would be.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" yes' -l 'yes' -d 'Don\'t ask.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" in' -l 'in' -d 'Let them live that long from now on.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" now' -l 'now' -d 'Expire them at once.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" never' -l 'never' -d 'Take their deadlines away.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" idle-longer-than' -l 'idle-longer-than' -d 'Expire at once what was idle for longer than this.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum expire" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum undo" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum undo" list' -l 'list' -d 'List what can be undone, the latest first; change nothing.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum undo" json' -l 'json' -d 'Print JSON.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum undo" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum undo" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum resize" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum resize" disk' -l 'disk' -d 'Most bytes of values on disk, such as 20MB or 64KiB.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum resize" memory' -l 'memory' -d 'Most bytes of values in a process\' memory.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum resize" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum resize" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" owners' -l 'owners' -d 'Also what the entries of each owner come to.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" watch' -l 'watch' -d 'Print changes a second, each interval.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" interval' -l 'interval' -d 'With --watch: how often (default: 1s).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" json' -l 'json' -d 'Print JSON.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum stats" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" from-start' -l 'from-start' -d 'Begin with the events that the ring still has.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" seconds' -l 'seconds' -d 'End after that long.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" limit' -l 'limit' -d 'End after that many events.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" json' -l 'json' -d 'Print a JSON object a line.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum watch" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum why" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum why" json' -l 'json' -d 'Print one JSON object.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum why" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum why" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum import" -eq 1' -F
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" key' -l 'key' -d 'The property that holds an entry\'s key.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" value' -l 'value' -d 'Record only this property\'s value, not the whole object.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" format' -l 'format' -d 'What the file is (default: what its name or its first byte says).' -rfka 'ndjson json csv tsv'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" text' -l 'text' -d 'CSV and TSV: take every field as text.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" strict' -l 'strict' -d 'Stop at the first record that can\'t be imported.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" expires' -l 'expires' -d 'How long the entry lives: 500ms, 90s, 5m, 2h, 3d (default: until it is deleted or evicted).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" memory-expires' -l 'memory-expires' -d 'How long a process may keep it in memory after reading it from disk (default: while there is room).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" owner' -l 'owner' -d 'The group that the entry belongs to, 1 to 255 bytes.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" kind' -l 'kind' -d 'If this makes the archive: what it does when it is full (default: cache with --disk, else collection).' -rfka 'cache collection'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" disk' -l 'disk' -d 'If this makes the archive: most bytes of values on disk, such as 20MB or 64KiB (a cache\'s default: 2MB).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" memory' -l 'memory' -d 'If this makes the archive: most bytes of values in a process\' memory (default: 1MB).' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum import" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum export" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum export" -eq 1' -F
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum export" format' -l 'format' -d 'What to write (default: csv if the file\'s name ends with .csv, else ndjson).' -rfka 'ndjson csv'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum export" with-keys' -l 'with-keys' -d 'Wrap each value: {"key":…,"value":…}.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum export" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum export" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum append" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum append" whole' -l 'whole' -d 'Take all of standard input as one message.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum append" disk' -l 'disk' -d 'If there is no such log: make it, with most that many bytes of messages, such as 1MB.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum append" keep-old' -l 'keep-old' -d 'If this begins a ring file: keep old messages, and refuse new ones once it is full.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum append" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum append" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" lines n' -s 'n' -l 'lines' -d 'Begin with that many messages.' -rfka ''
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" f follow' -l 'follow' -s 'f' -d 'Go on with what is appended from now on.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" json' -l 'json' -d 'Print a JSON object a line.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" raw' -l 'raw' -d 'Print only the messages\' bytes, with a line feed behind each.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum tail" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum check" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum check" repair' -l 'repair' -d 'Make damaged archives whole.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum check" dry-run' -l 'dry-run' -d 'With --repair: only say what is damaged.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum check" json' -l 'json' -d 'Print one JSON object.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum check" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum check" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum backup" store' -l 'store' -d 'The store\'s folder (default: $VELLUM_STORE, else the only store in the caches folder).' -rfa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_positional "vellum backup" -eq 1' -fa '(__vellum_complete_directories)'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum backup" version' -l 'version' -d 'Show the version.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum backup" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'vellum' -n '__vellum_should_offer_completions_for_flags_or_options "vellum help" version' -l 'version' -d 'Show the version.'
