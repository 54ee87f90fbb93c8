import { type Kysely, sql } from 'kysely'

/**
 * Functions that create users and groups, so that a request is one statement and its plans stay in the session. See
 * `create-entries.ts` for what is sent to them.
 */
export async function createEntryFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`create function access_management.insert_entries(
    directory integer, entry_kind text, entries jsonb
  ) returns integer[] language plpgsql as $$
  declare
    many constant integer := jsonb_array_length(entries);
    ids integer[];
  begin
    if entry_kind = 'user' then
      ids := array(select nextval('access_management.external_users_id_seq') from generate_series(1, many));
      insert into access_management.external_users (id, directory_id, external_id, email, name, employee_id)
        overriding system value
        select ids[e.number], directory, e.external_id, e.email, e.name, e.employee_id
        from rows from (jsonb_to_recordset(entries)
          as (external_id text, email text, name text, employee_id text))
          with ordinality as e(external_id, email, name, employee_id, number);
      update access_management.directories set user_count = user_count + many where id = directory;
    else
      ids := array(select nextval('access_management.external_groups_id_seq') from generate_series(1, many));
      insert into access_management.external_groups (id, directory_id, external_id, name)
        overriding system value
        select ids[e.number], directory, e.external_id, e.name
        from rows from (jsonb_to_recordset(entries) as (external_id text, name text))
          with ordinality as e(external_id, name, number);
      insert into access_management.group_members (group_id, directory_id, external_id)
        select ids[e.number], directory, m.external_id
        from rows from (jsonb_to_recordset(entries) as (members jsonb)) with ordinality as e(members, number)
        cross join jsonb_array_elements_text(e.members) as m(external_id)
        on conflict do nothing;
      update access_management.directories set group_count = group_count + many where id = directory;
    end if;
    insert into access_management.entry_blocks as b (directory_id, kind, block, entries)
      select directory, entry_kind, id / 1024, count(*) from unnest(ids) as id group by id / 1024
      on conflict (directory_id, kind, block) do update set entries = b.entries + excluded.entries;
    return ids;
  end $$`.execute(db)
  await sql`create function access_management.create_entries(
    organization integer, directory integer, entry_kind text, unique_ids boolean, entries jsonb, origin jsonb,
    out ids integer[], out taken text[]
  ) returns setof record language plpgsql as $$
  declare
    directory_name text;
    external text;
    given constant text[] := array(select e ->> 'external_id' from jsonb_array_elements(entries) as e
      where e ->> 'external_id' is not null);
  begin
    select d.name into directory_name from access_management.directories d
      where d.id = directory and d.organization_id = organization for update;
    if not found then return; end if;
    if unique_ids then
      taken := '{}';
      -- One by one: for a list of ids, a plan that is made while the table is empty reads the whole directory.
      foreach external in array given loop
        if entry_kind = 'user' then
          perform from access_management.external_users u
            where u.directory_id = directory and u.external_id = external limit 1;
        else
          perform from access_management.external_groups g
            where g.directory_id = directory and g.external_id = external limit 1;
        end if;
        if found then taken := taken || external; end if;
      end loop;
      if cardinality(taken) > 0 or cardinality(given) > (select count(distinct id) from unnest(given) as id) then
        return next;
        return;
      end if;
    end if;
    ids := access_management.insert_entries(directory, entry_kind, entries);
    insert into access_management.events
      (organization_id, created_at, type, operation, description, actor, subject, actor_id, ip)
      select organization, (origin ->> 'at')::timestamptz, 'create_directory_' || entry_kind, 'create',
        jsonb_build_object('en', e.before_name || directory_name || e.after_name),
        origin -> 'actor', e.subject || jsonb_build_object('id', ids[e.number]),
        (origin -> 'actor' ->> 'id')::integer, (origin ->> 'ip')::inet
      from rows from (jsonb_to_recordset(entries) as (subject jsonb, before_name text, after_name text))
        with ordinality as e(subject, before_name, after_name, number);
    update access_management.organizations set event_count = event_count + cardinality(ids)
      where id = organization;
    return next;
  end $$`.execute(db)
}
