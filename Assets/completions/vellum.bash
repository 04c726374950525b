#!/bin/bash

__vellum_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__vellum_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__vellum_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__vellum_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_vellum() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=(-s --store)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    browse|demo|ls|keys|groups|get|put|query|shell|rm|expire|undo|exists|ttl|touch|resize|compact|copy|rename|drop|stats|watch|why|import|export|append|tail|check|diff|backup|dump|restore|doctor|bench|advise|config|help)
        # Offer subcommand argument completions
        "_vellum_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'browse demo ls keys groups get put query shell rm expire undo exists ttl touch resize compact copy rename drop stats watch why import export append tail check diff backup dump restore doctor bench advise config help' -- "${cur}"))
        ;;
    esac
}

_vellum_browse() {
    repeating_flags=()
    non_repeating_flags=(--read-only --write --lines --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --theme --size --keys --print --record --replay --at)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--theme')
        __vellum_add_completions -W 'dark'$'\n''light'$'\n''dark-safe'$'\n''light-safe'$'\n''mono'
        return
        ;;
    '--size')
        return
        ;;
    '--keys')
        return
        ;;
    '--print')
        __vellum_add_completions -W 'text'$'\n''ansi'$'\n''svg'
        return
        ;;
    '--record')
        __vellum_add_completions -f
        return
        ;;
    '--replay')
        __vellum_add_completions -f
        return
        ;;
    '--at')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -f
        return
        ;;
    esac
}

_vellum_demo() {
    repeating_flags=()
    non_repeating_flags=(--keep --no-browse --lines --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --seconds --rate --seed --theme --record)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--seconds')
        return
        ;;
    '--rate')
        return
        ;;
    '--seed')
        return
        ;;
    '--theme')
        __vellum_add_completions -W 'dark'$'\n''light'$'\n''dark-safe'$'\n''light-safe'$'\n''mono'
        return
        ;;
    '--record')
        __vellum_add_completions -f
        return
        ;;
    esac
}

_vellum_ls() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac
}

_vellum_keys() {
    repeating_flags=()
    non_repeating_flags=(--reverse --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --order --prefix --match --owner --limit)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--order')
        __vellum_add_completions -W 'key'$'\n''size'$'\n''tier'$'\n''recency'$'\n''created'$'\n''expires'$'\n''hits'$'\n''owner'$'\n''eviction'
        return
        ;;
    '--prefix')
        return
        ;;
    '--match')
        return
        ;;
    '--owner')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion keys -- --owner "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--limit')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion keys -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_groups() {
    repeating_flags=()
    non_repeating_flags=(--reverse --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --by --prefix --separator --order --limit)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--by')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion groups -- --by "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--prefix')
        return
        ;;
    '--separator')
        return
        ;;
    '--order')
        __vellum_add_completions -W 'group'$'\n''entries'$'\n''bytes'$'\n''hits'$'\n''idle'
        return
        ;;
    '--limit')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion groups -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_get() {
    repeating_flags=()
    non_repeating_flags=(--json --raw --text --hex --meta --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion get -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion get -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_put() {
    repeating_flags=()
    non_repeating_flags=(--text --raw --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --expires --memory-expires --owner --kind --disk --memory --policy)
    __vellum_offer_flags_options 3

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--expires')
        return
        ;;
    '--memory-expires')
        return
        ;;
    '--owner')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion put -- --owner "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--kind')
        __vellum_add_completions -W 'cache'$'\n''collection'
        return
        ;;
    '--disk')
        return
        ;;
    '--memory')
        return
        ;;
    '--policy')
        __vellum_add_completions -W 'lru'$'\n''s3fifo'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion put -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    3)
        __vellum_add_completions -f
        return
        ;;
    esac
}

_vellum_query() {
    repeating_flags=()
    non_repeating_flags=(--json --csv --spreadsheet --force --explain --touch --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --file --format --output --memory --temp)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--file')
        __vellum_add_completions -f
        return
        ;;
    '--format')
        __vellum_add_completions -W 'table'$'\n''json'$'\n''ndjson'$'\n''csv'$'\n''tsv'
        return
        ;;
    '--output')
        __vellum_add_completions -f
        return
        ;;
    '--memory')
        return
        ;;
    '--temp')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion query -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_shell() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion shell -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_rm() {
    repeating_flags=()
    non_repeating_flags=(--all --dry-run --yes --write --touch --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --owner --where)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--owner')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion rm -- --owner "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--where')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion rm -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion rm -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_expire() {
    repeating_flags=()
    non_repeating_flags=(--all --dry-run --yes --write --touch --now --never --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --owner --where --in --idle-longer-than)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--owner')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion expire -- --owner "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--where')
        return
        ;;
    '--in')
        return
        ;;
    '--idle-longer-than')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion expire -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion expire -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_undo() {
    repeating_flags=()
    non_repeating_flags=(--list --json --write --restarted --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion undo -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_exists() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion exists -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion exists -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_ttl() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion ttl -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion ttl -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_touch() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --in)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--in')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion touch -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion touch -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_resize() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --disk --memory --policy)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--disk')
        return
        ;;
    '--memory')
        return
        ;;
    '--policy')
        __vellum_add_completions -W 'lru'$'\n''s3fifo'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion resize -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_compact() {
    repeating_flags=()
    non_repeating_flags=(--give-up-undo --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion compact -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_copy() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --where --to)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--where')
        return
        ;;
    '--to')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion copy -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion copy -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion copy -- positional@2 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_rename() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion rename -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_drop() {
    repeating_flags=()
    non_repeating_flags=(--force --dry-run --yes --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion drop -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_stats() {
    repeating_flags=()
    non_repeating_flags=(--owners --watch --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --interval)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--interval')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion stats -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_watch() {
    repeating_flags=()
    non_repeating_flags=(--from-start --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --seconds --limit)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--seconds')
        return
        ;;
    '--limit')
        return
        ;;
    esac
}

_vellum_why() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion why -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion why -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_import() {
    repeating_flags=()
    non_repeating_flags=(--text --trim --strict --lossless --overwrite --write --version -h --help)
    repeating_options=(--types)
    non_repeating_options=(-s --store --key --value --format --delimiter --quote --decimal --header --expires --memory-expires --owner --kind --disk --memory --policy)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--key')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion import -- --key "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--value')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion import -- --value "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--format')
        __vellum_add_completions -W 'ndjson'$'\n''json'$'\n''csv'$'\n''tsv'
        return
        ;;
    '--types')
        return
        ;;
    '--delimiter')
        return
        ;;
    '--quote')
        return
        ;;
    '--decimal')
        return
        ;;
    '--header')
        return
        ;;
    '--expires')
        return
        ;;
    '--memory-expires')
        return
        ;;
    '--owner')
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion import -- --owner "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    '--kind')
        __vellum_add_completions -W 'cache'$'\n''collection'
        return
        ;;
    '--disk')
        return
        ;;
    '--memory')
        return
        ;;
    '--policy')
        __vellum_add_completions -W 'lru'$'\n''s3fifo'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion import -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -f
        return
        ;;
    esac
}

_vellum_export() {
    repeating_flags=()
    non_repeating_flags=(--with-keys --lossless --touch --spreadsheet --force --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --format --where)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--format')
        __vellum_add_completions -W 'ndjson'$'\n''json'$'\n''csv'$'\n''tsv'
        return
        ;;
    '--where')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion export -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -f
        return
        ;;
    esac
}

_vellum_append() {
    repeating_flags=()
    non_repeating_flags=(--whole --keep-old --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --disk)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--disk')
        return
        ;;
    esac
}

_vellum_tail() {
    repeating_flags=()
    non_repeating_flags=(--follow -f --json --raw --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store -n --lines)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '-n'|'--lines')
        return
        ;;
    esac
}

_vellum_check() {
    repeating_flags=()
    non_repeating_flags=(--repair --dry-run --yes --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac
}

_vellum_diff() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --with)
    __vellum_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--with')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion diff -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion diff -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_backup() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -d
        return
        ;;
    esac
}

_vellum_dump() {
    repeating_flags=()
    non_repeating_flags=(--force --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -f
        return
        ;;
    *)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion dump -- positional@1 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_restore() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __vellum_offer_flags_options 2

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -f
        return
        ;;
    2)
        __vellum_add_completions -d
        return
        ;;
    esac
}

_vellum_doctor() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    esac
}

_vellum_bench() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--in --value --time)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--in')
        __vellum_add_completions -d
        return
        ;;
    '--value')
        return
        ;;
    '--time')
        return
        ;;
    esac
}

_vellum_advise() {
    repeating_flags=()
    non_repeating_flags=(--force --json --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --trace --limits --unit --policies --sampling --export-trace)
    __vellum_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--trace')
        __vellum_add_completions -f
        return
        ;;
    '--limits')
        return
        ;;
    '--unit')
        __vellum_add_completions -W 'entries'$'\n''bytes'
        return
        ;;
    '--policies')
        return
        ;;
    '--sampling')
        return
        ;;
    '--export-trace')
        __vellum_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __vellum_add_completions -W "$(__vellum_custom_complete ---completion advise -- positional@0 "${COMP_CWORD}" "$(__vellum_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_vellum_config() {
    repeating_flags=()
    non_repeating_flags=(--path --version -h --help)
    repeating_options=()
    non_repeating_options=(-s --store --theme)
    __vellum_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-s'|'--store')
        __vellum_add_completions -d
        return
        ;;
    '--theme')
        __vellum_add_completions -W 'dark'$'\n''light'$'\n''dark-safe'$'\n''light-safe'$'\n''mono'
        return
        ;;
    esac
}

_vellum_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __vellum_offer_flags_options -1
}

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
